"""The rollout concern: which fragment is generated next, and where.

Work is pulled: a free lane takes the most urgent fragment, so a slow lane takes less. Invariant: a lane holds exactly
the fragment's policy version when it starts, and changes versions only between fragments: no trajectory mixes two.
"""

from collections.abc import Iterable, Iterator

from worker.contracts.names import Role
from worker.pipeline.fragments import FragmentQueue
from worker.pipeline.lanes import Lane, LaneTable
from worker.pipeline.types import Action, Fragment, Generate, Pull, Purpose

# People wait for requests, and evaluations must meet the lanes while these hold the version under test.
_URGENCY = {Purpose.REQUEST: 0, Purpose.EVALUATE: 1, Purpose.TRAIN: 2}


class Generation:
    def __init__(self, lanes: LaneTable) -> None:
        self._lanes = lanes
        self._queue = FragmentQueue(_URGENCY)
        self._bound: dict[str, Fragment] = {}
        """Fragments of an older version, each kept for the lane that pulls that version."""

    @property
    def num_waiting(self) -> int:
        """Fragments that no lane has begun."""
        return len(self._queue) + len(self._bound)

    def is_any_lane_behind(self, current_version: int) -> bool:
        """Whether a free rollout lane has yet to pull the current version."""
        return any(lane.policy_version != current_version for lane in self._lanes.free(Role.ROLLOUT))

    def enqueue(self, fragments: Iterable[Fragment]) -> None:
        self._queue.push_all(fragments)

    def next_actions(self, current_version: int) -> Iterator[Action]:
        for lane in self._lanes.free(Role.ROLLOUT):
            action = self._next_for(lane, current_version)
            if action is not None:
                self._lanes.start(lane, action)
                yield action

    def lost(self, lane: Lane) -> None:
        """Put back what a lost lane had begun or was about to begin."""
        if isinstance(lane.under_way, Generate):
            self._queue.push(lane.under_way.fragment)
        if lane.name in self._bound:
            self._queue.push(self._bound.pop(lane.name))

    def _next_for(self, lane: Lane, current_version: int) -> Action | None:
        first = self._queue.first()
        # Only a fragment given back by a lost lane can be of an older version; one lane goes back for it, not all.
        if lane.name not in self._bound and first is not None and first.policy_version != current_version:
            self._bound[lane.name] = self._queue.pop()
        bound = self._bound.get(lane.name)
        wanted = current_version if bound is None else bound.policy_version
        if lane.policy_version != wanted:
            return Pull(lane.name, wanted)
        if bound is not None:
            return Generate(lane.name, self._bound.pop(lane.name))
        return Generate(lane.name, self._queue.pop()) if self._queue else None
