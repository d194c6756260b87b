"""The forward and backward passes of one `accumulate`: the micro-batches that this rank was given, then padding."""

import math
from collections.abc import Sequence

from worker.contracts.algebra import BatchAlgebra
from worker.engine.trainer.learners.monitoring import is_monitored
from worker.engine.transport.parts import micro_batches_of_group
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import MicroBatch
from worker.scheduling.core.messages import MicroBatchKey

Passes = list[tuple[MicroBatchKey, MicroBatch]]
"""Micro-batches with their keys, in the order in which they are trained."""


def passes_of(
    algebra: BatchAlgebra,
    groups: Sequence[GroupBatch],
    chosen: Sequence[MicroBatchKey] | None,
    num_padding: int,
) -> Passes:
    """The `chosen` micro-batches of `groups`, by default all of them by index, then the padding.

    Padding has weight 0, and goes over the first pair of the first micro-batch chosen, or else of the first group.
    """
    of_groups = {
        MicroBatchKey(group, index): micro
        for group in sorted(each.group for each in groups)
        for index, micro in enumerate(micro_batches_of_group(algebra, group))
    }
    own = list(of_groups) if chosen is None else list(chosen)
    first = own[0] if own else MicroBatchKey(groups[0].group, 0)
    padding = MicroBatch(first.group, of_groups[first].pairs[:1], 0.0)
    return [(key, of_groups[key]) for key in own] + [(first, padding)] * num_padding


def is_monitored_pass(
    algebra: BatchAlgebra, key: MicroBatchKey, *, num_before: int, num_lockstep_ranks: int | None, batch: int
) -> bool:
    """Whether a pass is monitored, padding included.

    Where ranks run in lockstep the pass's number decides, which is the same on each of them: in ZeRO 3 every rank must
    run the same forward passes. Otherwise the micro-batch decides, whichever rank takes it. Where groups may be left
    out of training, each rank's first pass is monitored too: the micro-batches that are chosen may all be those of such
    groups, and the replay gate of a stale batch needs one.

    Args:
        algebra: the run's.
        key: the micro-batch of the pass.
        num_before: the number of passes of this rank in the mini-batch before this one.
        num_lockstep_ranks: the number of ranks, where they run in lockstep; otherwise `None`.
        batch: the batch's number.
    """
    if algebra.filter_groups and num_before == 0:
        return True
    number = algebra.num_micro_batches_per_optimizer_step
    if num_lockstep_ranks is not None:
        return is_monitored(num_before, math.ceil(number / num_lockstep_ranks), batch=batch)
    group = key.group % algebra.num_groups_per_minibatch
    return is_monitored(group * (number // algebra.num_groups_per_minibatch) + key.index, number, batch=batch)
