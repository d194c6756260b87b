"""Which lanes of a colocated run generate the last fragments of a batch, and how many each: those that end them first.

    seconds of a fragment by lane     ┐   could the others end all that waits before this lane ends one? ─► it declines
    when each lane ends what it does  ┴─► who would end each first? ─► a lane's share, for `call_sizes`

Lanes pull fragments, so a slow one would often begin one of the last, and the whole gang would wait for it. Invariant:
the lane that would end a fragment first never declines, so work goes on for as long as fragments wait; and while some
cost is not known, no lane declines.
"""

import math
from dataclasses import dataclass

import numpy as np

from worker.contracts.names import LaneRole
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.costs import CostKind
from worker.scheduling.core.lane_table import Lane, LaneTable
from worker.scheduling.core.messages import Fragment, Generate, Pull, Switch
from worker.scheduling.core.rank_shares import Seconds, earliest_ends

_SAME = 1e-6
"""Relative difference of seconds that are taken to be equal: of lanes alike none declines."""


@dataclass(frozen=True, slots=True)
class SharesWithout:
    """How the last fragments are divided with and without one lane. All [trainer lane], as they are listed."""

    ends_before: Seconds
    """When each ends its part with that lane; now, where it generates nothing."""
    ends: Seconds
    """The same without."""
    rates: Seconds
    """Fragments a second of the lanes that then generate, 0 for the others."""


class GenerationShares:
    """The trainer lanes as lanes that generate: their seconds of a fragment, and when each is expected to be free."""

    def __init__(self, lanes: LaneTable, costs: CostModel) -> None:
        self._lanes, self._costs = lanes, costs
        self._read_for: object = None
        """The batch and the lanes that the arrays were read for."""
        self._index: dict[str, int] = {}
        self._fragment_seconds = np.zeros(0)
        """[lane]"""
        self._ends_at = np.zeros(0)
        """[lane]: when it ends what it does; infinite where it does not generate."""
        self._is_free = np.zeros(0, dtype=np.bool_)
        """[lane]"""
        self._most_waiting = -1
        """With more fragments waiting than this no lane declines."""

    def began(self, lane: Lane) -> None:
        """The lane has begun its action under way."""
        index = self._index.get(lane.name)
        if index is not None and lane.under_way is not None:
            self._ends_at[index] = lane.since + self._costs.seconds_of(lane.name, lane.under_way)
            self._is_free[index] = False

    def declines(self, lane: Lane, first: Fragment, num_waiting: int, at: float) -> bool:
        """Whether a free lane leaves the last `num_waiting` fragments to others, which would end all of these before it
        ends one.

        `first`: the next fragment, whose seconds stand for those of each.
        """
        self._read(first)
        index = self._index.get(lane.name)
        if index is None or num_waiting > self._most_waiting:
            return False
        end = at + self._fragment_seconds[index] * (1 - _SAME)
        num_ended = np.maximum(np.ceil((end - self._free_at(index, at)) / self._fragment_seconds) - 1, 0.0)
        return float(num_ended.sum() - num_ended[index]) >= num_waiting

    def share(self, lane: Lane, num_waiting: int, at: float) -> int | None:
        """How many of the `num_waiting` fragments a free lane that does not decline them would end before any other
        lane, at least one; `None` while some cost is not known."""
        index = self._index.get(lane.name)
        if index is None:
            return None
        counts = earliest_ends(self._free_at(index, at), self._fragment_seconds, num_waiting)
        return max(1, int(counts[index]))

    def without(self, lane: Lane, first: Fragment, num_waiting: int, at: float) -> SharesWithout | None:
        """What becomes of the `num_waiting` fragments if a free `lane` takes no more of them; `None` while some cost is
        not known, or where no other lane could take them."""
        self._read(first)
        index = self._index.get(lane.name)
        if index is None:
            return None
        free_at = self._free_at(index, at)
        others = free_at.copy()
        others[index] = math.inf
        generates = np.isfinite(others)
        if not generates.any():
            return None
        before, after = self._ends_of(free_at, num_waiting, at), self._ends_of(others, num_waiting, at)
        return SharesWithout(before, after, generates / self._fragment_seconds)

    def _ends_of(self, free_at: Seconds, num_waiting: int, at: float) -> Seconds:
        counts = earliest_ends(free_at, self._fragment_seconds, num_waiting)
        ends: Seconds = np.where(np.isfinite(free_at), free_at + counts * self._fragment_seconds, at)
        return ends

    def _free_at(self, index: int, at: float) -> Seconds:
        """[lane]: when it can begin its next fragment; the lane at `index` is free now."""
        self._is_free[index] = True
        # A lane that is late is expected to be late by as much again.
        return np.where(self._is_free, at, np.maximum(self._ends_at, 2 * at - self._ends_at))

    def _read(self, first: Fragment) -> None:
        """Take over what the cost model knows, once for each batch and whenever lanes come, go or are to begin no
        further fragment."""
        key, size = first.key, len(first.members)
        trainers = self._lanes.trainers
        read_for = key.purpose, key.batch, size, self._lanes.num_joined, len(trainers), self._lanes.num_allowances_ended
        if read_for == self._read_for:
            return
        self._read_for, self._index, self._most_waiting = read_for, {}, -1
        costs = [self._costs.seconds(lane.name, CostKind.GENERATE, size) for lane in trainers]
        known = [seconds for seconds in costs if seconds]
        if len(known) < len(trainers):
            return
        self._index = {lane.name: index for index, lane in enumerate(trainers)}
        self._fragment_seconds = np.array(known)
        self._ends_at = np.array([self._end_of(lane) for lane in trainers])
        self._is_free = np.array([lane.allowance > 0 and lane.under_way is None for lane in trainers])
        # In the seconds of the slowest lane's fragment, the others end no more than this.
        self._most_waiting = math.floor(float((max(known) / self._fragment_seconds).sum()))

    def _end_of(self, lane: Lane) -> float:
        if not lane.allowance:
            return math.inf
        match lane.under_way:
            case Generate() | Pull() | Switch(to=LaneRole.ROLLOUT) as action:
                return lane.since + self._costs.seconds_of(lane.name, action)
            case _:
                return math.inf
