"""How groups are cut into micro-batches, and how those are spread over trainer ranks.

    group ─► chunks of members ─► micro-batches: a chunk × as many denoising steps as fit ─► ranks

Invariant: what a micro-batch holds follows from the batch algebra alone, never from the number of ranks, from the
switches or from which groups arrive together; only which rank takes it does. So on one rank every mode adds up the same
terms in the same order.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from worker.contracts.algebra import BatchAlgebra

MONITORING_STRIDE = 10
"""One micro-batch in so many goes through another forward pass, for what is only watched: 3 to 5 % of the work."""


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Some (trajectory, denoising step) pairs of one group: one forward and backward.

    With weight 0 it is padding: its gradient counts for nothing, it only keeps this rank in step with the rest.
    """

    group: int
    pairs: tuple[int, ...]
    """Each is member × num_trained_denoising_steps + place of the denoising step among the trained ones."""
    weight: float = 1.0


def split_group(algebra: BatchAlgebra, group: int) -> list[tuple[MicroBatch, ...]]:
    """The group's micro-batches in the order in which one rank goes through them, bundled by chunk of members."""
    return [
        tuple(
            MicroBatch(
                group,
                tuple(member * algebra.num_trained_denoising_steps + step for step in steps for member in members),
            )
            for steps in _cut(algebra.num_trained_denoising_steps, algebra.num_denoising_steps_per_micro_batch)
        )
        for members in _cut(algebra.num_units_per_group, algebra.micro_batch_size)
    ]


def spread(algebra: BatchAlgebra, groups: Sequence[int], *, rank: int, world_size: int, tsp: bool) -> list[MicroBatch]:
    """The micro-batches that `rank` goes through for these groups, padded to equally many on every rank.

    With `tsp` (time-step parallelism) each micro-batch may go to another rank, since the pairs of a finished trajectory
    are independent; without it, all denoising steps of a trajectory stay on one rank. ZeRO reduces in every backward,
    so a rank with fewer micro-batches would leave the others waiting.
    """
    chunks = [chunk for group in groups for chunk in split_group(algebra, group)]
    units = [(micro,) for chunk in chunks for micro in chunk] if tsp else chunks
    first, last = _share(len(units), rank, world_size)
    mine = [micro for unit in units[first:last] for micro in unit]
    num_each = num_micro_batches(algebra, len(groups), world_size=world_size, tsp=tsp)
    padding = MicroBatch(groups[0], (0,), 0.0)
    return mine + [padding] * (num_each - len(mine))


def num_micro_batches(algebra: BatchAlgebra, num_groups: int, *, world_size: int, tsp: bool) -> int:
    """How many micro-batches each rank goes through for a bundle of `num_groups` groups, padding included."""
    num_chunks = num_groups * math.ceil(algebra.num_units_per_group / algebra.micro_batch_size)
    each_chunk = math.ceil(algebra.num_trained_denoising_steps / algebra.num_denoising_steps_per_micro_batch)
    return math.ceil(num_chunks * each_chunk / world_size) if tsp else math.ceil(num_chunks / world_size) * each_chunk


def bundle_size(algebra: BatchAlgebra, num_ready: int, num_left: int, *, world_size: int, tsp: bool) -> int:
    """How many of the ready groups to accumulate at once, where `num_left` of the mini-batch are still to be taken.

    All of those left together pad least. Of fewer, so many that a group costs least, padding included: the others go
    with those that follow.
    """
    if num_ready == num_left:
        return num_ready
    fewest = max(0, num_ready - _MAX_GROUPS_HELD_BACK)

    def each(number: int) -> float:
        return num_micro_batches(algebra, number, world_size=world_size, tsp=tsp) / number

    return min(range(num_ready, fewest, -1), key=each)


_MAX_GROUPS_HELD_BACK = 16
"""Padding is less than one micro-batch a rank, or one chunk of members: among many groups it hardly counts."""


def monitored_indices(num_before: int, number: int, *, batch: int) -> frozenset[int]:
    """Which of the next `number` micro-batches of a batch's first mini-batch are watched, on every rank alike.

    One of each ten, and of the first accumulation one in any case. Each ten and each batch has another place for it:
    micro-batches repeat denoising steps and prompts, and of a period of ten one would be watched for ever.

    Args:
        num_before: what each rank has gone through in the mini-batch, padding included.
        number: ≥ 1; what each rank goes through now, likewise.
        batch: the batch's number.
    """
    num_after = num_before + number
    tens = range(max(1, num_before // MONITORING_STRIDE), math.ceil(num_after / MONITORING_STRIDE))
    chosen = {ten * MONITORING_STRIDE + _turn(ten + batch) for ten in tens}
    if num_before == 0:
        chosen.add(_turn(batch) % number)
    return frozenset(place - num_before for place in chosen if num_before <= place < num_after)


def _turn(number: int) -> int:
    """Each place of a ten in turn, far from the one before."""
    return 7 * number % MONITORING_STRIDE


def _cut(number: int, size: int) -> list[range]:
    return [range(start, min(start + size, number)) for start in range(0, number, size)]


def _share(num_units: int, rank: int, world_size: int) -> tuple[int, int]:
    """Contiguous, as even as can be: the first ranks take one more where they do not divide."""
    each, more = divmod(num_units, world_size)
    return rank * each + min(rank, more), (rank + 1) * each + min(rank + 1, more)
