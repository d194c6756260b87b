"""The rollout concern: which fragment is generated next, and where.

Work is pulled: a free lane takes the most urgent fragment, so a slow lane takes less; a lent trainer lane pulls like
any other for as long as its allowance lasts. Invariant: a lane holds exactly the fragment's policy version when it
starts, and changes versions only between fragments: no trajectory mixes two.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from worker.contracts.names import LaneRole
from worker.scheduling.core.fragment_queue import FragmentQueue
from worker.scheduling.core.lane_table import Lane, LaneTable
from worker.scheduling.core.messages import Action, Fragment, Generate, Pull, Purpose

# People wait for requests, and evaluations must meet the lanes while these hold the version under test.
_URGENCY = {Purpose.REQUEST: 0, Purpose.EVALUATE: 1, Purpose.TRAIN: 2}


class Generation:
    def __init__(self, lanes: LaneTable) -> None:
        self._lanes = lanes
        self._queue = FragmentQueue(_URGENCY)
        self._bound: dict[str, Fragment] = {}
        """Fragments of an older version, each kept for the lane that pulls that version."""
        self._version_told: int | None = None
        """The current version when lanes were asked last."""

    @property
    def num_waiting(self) -> int:
        """Fragments that no lane has begun."""
        return len(self._queue) + len(self._bound)

    @property
    def num_unclaimed(self) -> int:
        """Fragments that any lane may still take."""
        return len(self._queue)

    def waiting_by_group(self) -> Counter[tuple[Purpose, int, int]]:
        """How many fragments of each (purpose, batch, group) no lane has begun."""
        waiting = chain(self._queue, self._bound.values())
        return Counter((key.purpose, key.batch, key.group) for key in (fragment.key for fragment in waiting))

    def is_any_lane_behind(self, current_version: int) -> bool:
        """Whether a free rollout lane has yet to pull the current version."""
        return any(lane.policy_version != current_version for lane in self._lanes.free(LaneRole.ROLLOUT))

    def enqueue(self, fragments: Iterable[Fragment]) -> None:
        self._queue.push_all(fragments)

    def next_actions(self, current_version: int, at: float) -> Iterator[Action]:
        # Lanes that found nothing to do are asked again only when there is something new to take or to pull.
        is_news = bool(self._queue) or current_version != self._version_told
        self._version_told = current_version
        newly_free = self._lanes.take_newly_free()
        for lane in self._lanes.free(LaneRole.ROLLOUT) if is_news else newly_free:
            action = self._next_for(lane, current_version)
            if action is not None:
                self._lanes.start(lane, action, at)
                yield action

    def lost(self, lane: Lane) -> None:
        """Put back what a lost lane had begun or was about to begin."""
        if isinstance(lane.under_way, Generate):
            self._queue.push(lane.under_way.fragment)
        self.release(lane)

    def is_bound(self, lane: Lane) -> bool:
        """Whether a fragment is kept for this lane."""
        return lane.name in self._bound

    def release(self, lane: Lane) -> None:
        """Put back what was kept for this lane."""
        if lane.name in self._bound:
            self._queue.push(self._bound.pop(lane.name))

    def _next_for(self, lane: Lane, current_version: int) -> Action | None:
        bound = self._bound.pop(lane.name, None)
        if bound is not None:
            # What it pulled for; nothing else may have come between.
            return self._generate(lane, bound)
        first = self._queue.first()
        if first is None or first.policy_version != lane.policy_version:
            return self._pull(lane, first, current_version)
        return self._generate(lane, self._queue.pop())

    def _generate(self, lane: Lane, fragment: Fragment) -> Action:
        if lane.is_lent:
            self._lanes.allow(lane, lane.allowance - 1)
        return Generate(lane.name, fragment)

    def _pull(self, lane: Lane, first: Fragment | None, current_version: int) -> Action | None:
        if first is None and lane.is_lent:
            return None
        if first is not None and first.policy_version != current_version:
            # The lane goes back for this one; were it not kept, the pull might find nothing left and be in vain.
            self._bound[lane.name] = self._queue.pop()
            return Pull(lane.name, first.policy_version)
        return None if lane.policy_version == current_version else Pull(lane.name, current_version)
