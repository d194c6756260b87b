"""When lanes are expected to end what they have under way, by what the cost model knows.

Invariant: work without a known cost counts as taking no time, and work that is overdue as ending now.
"""

from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import CostKind
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.messages import Switch
from worker.scheduling.core.state import SchedulerState


def expected_seconds(state: SchedulerState, lane: str, kind: CostKind, num_units: int | None = None) -> float:
    """Seconds of one call, by default of a whole fragment for kinds that are counted in samples; 0 where unknown."""
    has_samples = kind in (CostKind.GENERATE, CostKind.SCORE)
    num_units = num_units or (state.algebra.fragment_size if has_samples else 1)
    return state.costs.seconds(lane, kind, num_units) or 0.0


def seconds_left(state: SchedulerState, lane: Lane, at: float) -> float:
    """Seconds from `at` until the lane's action under way ends; 0 for a lane that is free."""
    action = lane.under_way
    return 0.0 if action is None else max(0.0, lane.since + state.costs.seconds_of(lane.name, action) - at)


def return_times(state: SchedulerState, at: float) -> dict[str, float]:
    """By trainer lane that is lent, or switching: when it can train, if it begins no further fragment."""
    away = [lane for lane in state.lanes.trainers if lane.is_lent or isinstance(lane.under_way, Switch)]
    times: dict[str, float] = {}
    for lane in away:
        is_returning = isinstance(lane.under_way, Switch) and lane.under_way.to is LaneRole.TRAINER
        reclaim = 0.0 if is_returning else expected_seconds(state, lane.name, CostKind.RECLAIM)
        times[lane.name] = at + seconds_left(state, lane, at) + reclaim
    return times
