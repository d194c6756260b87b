"""A trainer rank's share of groups, as a scheduler that knows no speeds would divide them."""

from collections.abc import Sequence
from typing import Any

from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, UpdateStats
from worker.scheduling.core.batching import num_micro_batches, shares_in_step


def accumulate_share(trainer: TrainerRank, groups: Sequence[GroupBatch], **arguments: Any) -> UpdateStats:
    """Accumulate this rank's share of `groups`; ranks that run in lockstep are padded to equal counts."""
    spec, world_size = trainer._spec, trainer._world_size
    numbers = sorted(group.group for group in groups)
    ranks: dict[str, Any] = {"world_size": world_size, "tsp": spec.pipeline.tsp}
    own = shares_in_step(spec.algebra, numbers, **ranks)[trainer._rank]
    num_passes = num_micro_batches(spec.algebra, len(groups), **ranks)
    num_padding = num_passes - len(own) if spec.deepspeed.zero_stage >= 2 else 0
    return trainer.accumulate(groups, own, num_padding=num_padding, **arguments)
