"""Measures what work costs: hands the time from each action to its answer to the cost model, in the right unit.

The seconds are the executor's, messages to and fro included, because a plan has to count those too. Invariant: only
training fragments count as generation or scoring, because an evaluation takes another number of denoising steps.
"""

from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.core.messages import (
    Accumulate,
    Accumulated,
    Committed,
    Event,
    Generate,
    Generated,
    Measured,
    Published,
    Pulled,
    Purpose,
    Score,
    Scored,
    Snapshotted,
    Switched,
)
from worker.scheduling.core.state import SchedulerState


class CostObserver:
    """Feeds the cost model of a scheduler's state from the events applied to it."""

    def __init__(self, state: SchedulerState) -> None:
        self._state = state

    def observe(self, event: Event, at: float) -> None:
        """Must be called before the event is applied, while the lane still has the answered action under way."""
        match event:
            case Generated():
                self._generated(event, at)
            case Scored():
                self._scored(event, at)
            case Pulled(lane):
                self._lane_done(lane, CostKind.PULL, at)
            case Switched(lane, to):
                self._lane_done(lane, CostKind.LEND if to is LaneRole.ROLLOUT else CostKind.RECLAIM, at)
            case Accumulated():
                self._accumulated(event, at)
            case Committed():
                self._gang_done(CostKind.COMMIT, at)
            case Snapshotted():
                self._gang_done(CostKind.SNAPSHOT, at)
            case Published():
                self._state.costs.observe(GANG, CostKind.PUBLISH, at - self._state.snapshot_at)
            case Measured(lane, kind, seconds):
                self._state.costs.observe(lane, kind, seconds)
            case _:
                pass

    def _generated(self, event: Generated, at: float) -> None:
        """The seconds of a call are shared out over its fragments by their members."""
        lanes = self._state.lanes
        action = lanes[event.lane].under_way if event.lane in lanes else None
        if not isinstance(action, Generate):
            return
        numbers = [len(fragment.members) for fragment in action.fragments if fragment.key.purpose is Purpose.TRAIN]
        for place, number in enumerate(numbers):
            seconds = (at - lanes[event.lane].since) * number / sum(numbers)
            self._state.costs.observe(event.lane, CostKind.GENERATE, seconds, number, is_same_call=place > 0)

    def _scored(self, event: Scored, at: float) -> None:
        if event.key.purpose is not Purpose.TRAIN or event.lane not in self._state.lanes:
            return
        action = self._state.lanes[event.lane].under_way
        if isinstance(action, Score):
            self._lane_done(event.lane, CostKind.SCORE, at, len(action.fragment.members))

    def _accumulated(self, event: Accumulated, at: float) -> None:
        """Ranks in step are slowed by each other, so their seconds are the gang's: those from the common start to the
        last answer."""
        lanes = self._state.lanes
        action = lanes[event.lane].under_way if event.lane in lanes else None
        if not isinstance(action, Accumulate):
            return
        num_passes = len(action.micro_batches) + action.num_padding
        if not self._state.equal_counts:
            self._lane_done(event.lane, CostKind.ACCUMULATE, at, num_passes)
        elif lanes.num_accumulating == 1:
            self._state.costs.observe(GANG, CostKind.ACCUMULATE, at - lanes[event.lane].since, num_passes)

    def _gang_done(self, kind: CostKind, at: float) -> None:
        if self._state.lanes.gang_action is not None:
            self._state.costs.observe(GANG, kind, at - self._state.lanes.gang_since)

    def _lane_done(self, lane: str, kind: CostKind, at: float, num_units: int = 1) -> None:
        lanes = self._state.lanes
        if lane in lanes and lanes[lane].under_way is not None:
            self._state.costs.observe(lane, kind, at - lanes[lane].since, num_units)
