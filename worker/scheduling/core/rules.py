"""Rules of a schedule that more than one module applies, each stated here once.

    rule                          scheduler                 elsewhere
    `prerequisite_batch`          `admission`               `forecast.forecast`
    `next_minibatch`              `training`                `forecast.forecast`
    `waits_for_whole_batch`       `admission`               `planning.limits`, through `planning.modes`
    `is_resampled`                `group_assembler`         the driver and `engine.local`, which drop what was drawn
    sizes of bundles, padding     `batching`                `forecast.state_reader`, `planning.gang`
    shares by speed               `rank_shares`             `forecast.state_reader`

The forecast and the limits are closed forms, so they must restate the other rules (who pulls when, one publish at a
time, when a lent lane returns). `tests/scheduling/test_rules_agree.py` holds both to the scheduler itself.
"""

from typing import Literal

from worker.contracts.names import Placement
from worker.contracts.sections import PipelineSpec


def prerequisite_batch(batch: int, max_staleness: int) -> int:
    """The number of the batch that must be published before `batch` may begin; negative where there is none.

    At staleness 0 that is the batch before it, so that its trajectories are of the weights that will be trained on
    them; each unit of staleness allows one batch more to be under way.
    """
    return batch - 1 - max_staleness


def next_minibatch(epoch: int, minibatch: int, num_minibatches: int) -> tuple[int, int]:
    """(epoch, mini-batch) trained after this one: mini-batches in index order, then the next epoch from the first."""
    return (epoch, minibatch + 1) if minibatch + 1 < num_minibatches else (epoch + 1, 0)


def waits_for_whole_batch(
    pipeline: PipelineSpec, advantage_std: Literal["group", "batch"], *, equal_counts: bool = False
) -> bool:
    """Whether no group is trained before every group of the batch is scored.

    Without `gap` by the user's choice; with advantages over the batch, because each of them depends on every reward of
    the batch; and colocated with `equal_counts`: ranks in step begin when the last of them has generated, and most
    groups are scored by then, while shares of the first few would be padded.
    """
    in_step = equal_counts and pipeline.placement is Placement.COLOCATED
    return advantage_std == "batch" or in_step or not pipeline.gap


def is_resampled(*, has_spread: bool, draw: int, max_resamples: int) -> bool:
    """Whether a complete group is dropped and drawn again. It depends on the group's own rewards and its number of
    draws alone, so every schedule of a run keeps the same samples."""
    return not has_spread and draw < max_resamples
