"""The reward concern: fragments are scored one by one as they are generated, while others still generate.

Training fragments go first: trainers wait for them, and nobody waits for an evaluation.
"""

from collections.abc import Iterator

from worker.contracts.names import LaneRole
from worker.scheduling.core.fragment_queue import FragmentQueue
from worker.scheduling.core.lane_table import Lane, LaneTable
from worker.scheduling.core.messages import Action, Fragment, Purpose, Score

_URGENCY = {Purpose.TRAIN: 0, Purpose.REQUEST: 1, Purpose.EVALUATE: 2}


class Scoring:
    def __init__(self, lanes: LaneTable) -> None:
        self._lanes = lanes
        self._queue = FragmentQueue(_URGENCY)

    @property
    def num_waiting(self) -> int:
        return len(self._queue)

    def waiting(self) -> Iterator[Fragment]:
        """What waits for a lane, in no order."""
        return iter(self._queue)

    def enqueue(self, fragment: Fragment) -> None:
        self._queue.push(fragment)

    def next_actions(self, at: float) -> Iterator[Action]:
        while self._queue and (lane := self._lanes.first_free(LaneRole.REWARD)) is not None:
            action = Score(lane.name, self._queue.pop())
            self._lanes.start(lane, action, at)
            yield action

    def lost(self, lane: Lane) -> None:
        if isinstance(lane.under_way, Score):
            self._queue.push(lane.under_way.fragment)
