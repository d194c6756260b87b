"""Scoring: fragments are scored one by one as they are generated, while others are still being generated.

Invariant: training fragments go first, because trainer lanes wait for them and no lane waits for an evaluation.
"""

from collections.abc import Iterator

from worker.contracts.names import LaneRole
from worker.scheduling.core.fragment_queue import FragmentQueue
from worker.scheduling.core.lane_table import Lane, LaneTable
from worker.scheduling.core.messages import Action, Fragment, Purpose, Score

_URGENCY = {Purpose.TRAIN: 0, Purpose.REQUEST: 1, Purpose.EVALUATE: 2}
"""Requests go before evaluations, because a user waits for them."""


class Scoring:
    """The queue of fragments to score, and the reward lanes that take from it."""

    def __init__(self, lanes: LaneTable) -> None:
        self._lanes = lanes
        self._queue = FragmentQueue(lambda fragment: _URGENCY[fragment.key.purpose])

    @property
    def num_waiting(self) -> int:
        """The number of fragments that no reward lane has begun."""
        return len(self._queue)

    def waiting(self) -> Iterator[Fragment]:
        """The fragments that no reward lane has begun, in no order."""
        return iter(self._queue)

    def enqueue(self, fragment: Fragment) -> None:
        self._queue.push(fragment)

    def next_actions(self, at: float) -> Iterator[Action]:
        """A fragment for each free reward lane, while there are any."""
        while self._queue and (lane := self._lanes.first_free(LaneRole.REWARD)) is not None:
            action = Score(lane.name, self._queue.pop())
            self._lanes.start(lane, action, at)
            yield action

    def requeue(self, lane: Lane) -> None:
        """Put back the fragment that a lost lane was scoring."""
        if isinstance(lane.under_way, Score):
            self._queue.push(lane.under_way.fragment)
