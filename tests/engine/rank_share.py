"""The share of groups of a trainer rank's lane, as a scheduler that knows no speeds would divide them."""

from collections.abc import Sequence
from typing import Any

from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, UpdateStats
from worker.scheduling.core.batching import num_micro_batches, shares_in_step


def accumulate_share(trainer: TrainerRank, groups: Sequence[GroupBatch], **arguments: Any) -> UpdateStats:
    """Accumulate the share of this rank's lane of `groups`; those that run in lockstep are padded to equal counts."""
    spec = trainer._spec
    numbers = sorted(group.group for group in groups)
    ranks: dict[str, Any] = {"world_size": trainer._num_lanes, "tsp": spec.pipeline.tsp}
    own = shares_in_step(spec.algebra, numbers, **ranks)[trainer._rank // trainer._gpus_per_lane]
    num_passes = num_micro_batches(spec.algebra, len(groups), **ranks)
    num_padding = num_passes - len(own) if spec.deepspeed.zero_stage >= 2 else 0
    return trainer.accumulate(groups, own, num_padding=num_padding, **arguments)
