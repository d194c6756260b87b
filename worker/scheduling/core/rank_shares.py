"""Who takes how many micro-batches: shares of the trainer ranks by measured speed, so that all end nearly together.

    seconds of a unit by rank    ┐
    when each rank can begin     ┴─► the earliest ends of all units that are ready ─► a rank's share ─► part of it now

A unit is what one rank takes undivided: a micro-batch with `tsp`, a chunk of members without. Each unit that is ready
belongs to the rank that would end it first. In one call a rank takes at most half of its share of all that is left of
the mini-batch, so calls are large at first and small toward the end, and a rank that turns out slower leaves more to
the others, as the first to return from generation does; but no call is so small that its fixed part outweighs the work.
Invariant: each rank takes its first unit of a mini-batch as soon as one is left for it, so that the speed of every rank
stays known.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Seconds = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

_MAX_FIXED_SHARE = 0.1
"""The share of a call's seconds that may go to its fixed part, where a rank's share of the work allows it."""
_TAKEN_AT_ONCE = 0.5
"""What a rank takes in one call at most, of its share of all that is left of the mini-batch. Where calls vary by ±20 %,
runs of 13 lanes lose 2 % to constant durations with a half, 4 % with two thirds, 14 % with all of it; with ±50 % a half
loses 6 % and a third 0.5 %, in more calls."""
_NO_TIME = 1e-12
"""Seconds that stand in for a unit that takes no time, of which any number would fit."""
_NUM_NEXT = 4
"""Units of each rank that are compared when the last ones are shared out, fewer than one for each rank; more where some
rank is that many times as fast as others."""
_NUM_ONE_BY_ONE = 6
"""Units up to which each is given to its rank alone, which is faster than all at once: 3 µs a unit against 20."""
_ROUNDING = 1e-9
"""Relative error of sums of the same seconds in another order, which must not cost a whole unit."""


def earliest_ends(free_at: Seconds, unit_seconds: Seconds, num_units: int) -> Counts:
    """[rank]: how many of `num_units` the rank does, if each is done by the rank that ends it first.

    Args:
        free_at: [rank], when the rank can begin; infinite for a rank that is away. At least one is finite.
        unit_seconds: [rank], > 0.
    """
    # In a continuous division all would end at `level`; of ranks in order of `free_at` the first ones take part. Ranks
    # that are away come last, are free at no level and so take none.
    order = free_at.argsort(kind="stable")
    free, rate = free_at[order], 1.0 / unit_seconds[order]
    levels = (num_units + (free * rate).cumsum()) / rate.cumsum()
    level = levels[np.count_nonzero(levels[:-1] > free[1:])]
    whole = np.maximum(np.floor((level - free) * rate * (1 + _ROUNDING) + _ROUNDING), 0.0)
    num_left = num_units - int(whole.sum())
    if num_left > _NUM_ONE_BY_ONE:
        _add_earliest(whole, free, rate, num_left)
    else:
        for _ in range(num_left):
            whole[(free + (whole + 1) / rate).argmin()] += 1
        # Only by rounding: take back what ends last.
        for _ in range(-num_left):
            whole[np.where(whole > 0, free + whole / rate, -np.inf).argmax()] -= 1
    counts = np.empty(free_at.size, dtype=np.int64)
    counts[order] = whole
    return counts


def _add_earliest(counts: Seconds, free: Seconds, rate: Seconds, num_units: int) -> None:
    """Add `num_units` to `counts` where they end first. All [rank], in order of `free`."""
    num_next = max(_NUM_NEXT, -(-num_units // free.size))
    while True:
        ends = free + (counts + np.arange(1, num_next + 1)[:, None]) / rate
        first = np.argsort(ends, axis=None, kind="stable")[:num_units]
        added = np.bincount(first % free.size, minlength=free.size)
        if num_next >= num_units or added.max() < num_next:
            counts += added
            return
        # The fastest rank might end even more of them first.
        num_next *= 2


def units_to_take(
    free_at: Seconds,
    unit_seconds: Seconds,
    call_seconds: Seconds,
    *,
    is_free: npt.NDArray[np.bool_],
    has_unit: npt.NDArray[np.bool_],
    num_units: int,
    num_left: int,
) -> Counts:
    """[rank]: how many of the units that are ready each free rank takes now; 0 for the others.

    Args:
        free_at: [rank], when the rank can begin; infinite for a rank of which that is not known.
        unit_seconds: [rank], seconds of one more unit.
        call_seconds: [rank], the fixed part of a call.
        is_free: [rank], whether the rank can begin now; at least one can.
        has_unit: [rank], whether the rank has taken a unit since the last commit.
        num_units: units that are ready and not taken, ≥ 1.
        num_left: units of the mini-batch that are not taken, ready or not.
    """
    if free_at.size == 1:
        return np.where(is_free, num_units, 0)
    unit_seconds = np.maximum(unit_seconds, _NO_TIME)
    first = is_free & ~has_unit
    num_first = int(np.count_nonzero(first))
    if num_first >= num_units:
        fastest = np.flatnonzero(first)[np.argsort(unit_seconds[first], kind="stable")][:num_units]
        counts = np.zeros(free_at.size, dtype=np.int64)
        counts[fastest] = 1
        return counts
    # A unit costs its rank a call, too. Of calls of several sizes the whole is known far better than its two parts.
    begin_at = free_at + call_seconds + first * unit_seconds
    counts = first + earliest_ends(begin_at, unit_seconds, num_units - num_first)
    rate = np.where(np.isfinite(free_at), 1.0 / unit_seconds, 0.0)
    at_once = np.ceil(_TAKEN_AT_ONCE * np.maximum(counts, num_left * rate / rate.sum()))
    now = np.minimum(counts, np.maximum(at_once, _worthwhile(unit_seconds, call_seconds)))
    return np.where(is_free, now.astype(np.int64), 0)


def _worthwhile(unit_seconds: Seconds, call_seconds: Seconds) -> Seconds:
    """[rank]: the fewest units of which the fixed part of a call takes no more than its share."""
    return np.ceil((1 / _MAX_FIXED_SHARE - 1) * call_seconds / unit_seconds)


def end_of_units(
    free_at: Seconds, unit_seconds: Seconds, call_seconds: Seconds, num_units: int, *, is_first: bool
) -> float:
    """When the last of `num_units` ends that are ready from the start, if ranks take them as `units_to_take` says.

    Args:
        free_at: [rank], when the rank can begin.
        is_first: they are the first of a mini-batch, so every rank takes one.
    """
    unit_seconds = np.maximum(unit_seconds, _NO_TIME)
    counts = np.full(free_at.size, int(is_first and num_units > free_at.size))
    counts += earliest_ends(free_at + call_seconds + counts * unit_seconds, unit_seconds, num_units - int(counts.sum()))
    worthwhile = np.maximum(_worthwhile(unit_seconds, call_seconds), 1.0)
    num_calls = 1 + np.floor(np.log2(np.maximum(counts / worthwhile, 1.0)))
    ends = free_at + counts * unit_seconds + num_calls * call_seconds
    return float(ends[counts > 0].max())


class RankShares:
    """What is known of the ranks of one gang: their seconds of a unit, and when each ends the call it has begun."""

    def __init__(self, lanes: Sequence[str], *, num_micro_batches_per_unit: int = 1) -> None:
        number = len(lanes)
        self._num_per_unit = num_micro_batches_per_unit
        self._index = {lane: index for index, lane in enumerate(lanes)}
        self._lanes = tuple(lanes)
        self._unit_seconds = np.ones(number)
        self._call_seconds = np.zeros(number)
        self._ends_at = np.full(number, np.inf)
        """Expected end of the call under way; infinite where there is none."""
        self._has_unit = np.zeros(number, dtype=np.bool_)

    @property
    def lanes(self) -> tuple[str, ...]:
        return self._lanes

    def set_speed(self, lane: str, micro_batch_seconds: float, call_seconds: float) -> None:
        index = self._index[lane]
        self._unit_seconds[index], self._call_seconds[index] = micro_batch_seconds * self._num_per_unit, call_seconds

    def began(self, lane: str, num_units: int, at: float) -> None:
        """The lane takes `num_units` at `at`."""
        index = self._index[lane]
        self._ends_at[index] = at + self._call_seconds[index] + num_units * self._unit_seconds[index]
        self._has_unit[index] = True

    def ended(self, lane: str) -> None:
        """The lane's call has ended."""
        self._ends_at[self._index[lane]] = np.inf

    def committed(self) -> None:
        """A mini-batch is closed, so every rank takes a first unit again."""
        self._has_unit[:] = False

    def to_take(
        self, free: Sequence[str], num_units: int, num_left: int, at: float, return_times: Mapping[str, float]
    ) -> list[tuple[str, int]]:
        """(lane, number of units) for the free lanes that take some of `num_units`, of `num_left` in all, at `at`.

        `return_times`: by lane that is lent, when it is expected to be back.
        """
        indices = [self._index[lane] for lane in free]
        # A rank that is late is expected to be late by as much again.
        free_at = np.maximum(self._ends_at, 2 * at - self._ends_at)
        is_free = np.zeros(free_at.size, dtype=np.bool_)
        is_free[indices], free_at[indices] = True, at
        for lane, time in return_times.items():
            free_at[self._index[lane]] = time
        counts = units_to_take(
            free_at,
            self._unit_seconds,
            self._call_seconds,
            is_free=is_free,
            has_unit=self._has_unit,
            num_units=num_units,
            num_left=num_left,
        )
        return [(self._lanes[index], int(counts[index])) for index in np.flatnonzero(counts).tolist()]
