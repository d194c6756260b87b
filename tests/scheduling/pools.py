"""Pools to simulate a run on: lanes, their costs, and which of them come and go."""

from dataclasses import dataclass
from functools import partial

from hypothesis import strategies as st

from tests.scheduling.run_settings import Settings
from worker.contracts.names import LaneRole
from worker.contracts.spans import Span
from worker.scheduling.core.costs import GANG, Cost, CostKind, CostTable
from worker.scheduling.core.messages import Event
from worker.scheduling.simulator.simulated_lanes import Arrival, Incident, Loss, SimulatedLane
from worker.scheduling.simulator.simulator import Simulator
from worker.scheduling.simulator.synthetic_spread import has_synthetic_spread

LANE_KINDS = {
    LaneRole.ROLLOUT: (CostKind.GENERATE, CostKind.PULL),
    LaneRole.TRAINER: (CostKind.GENERATE, CostKind.PULL, CostKind.LEND, CostKind.RECLAIM, CostKind.ACCUMULATE),
    LaneRole.REWARD: (CostKind.SCORE,),
}
"""By role: the kinds of work of a single lane."""
GANG_KINDS = (CostKind.ACCUMULATE, CostKind.COMMIT, CostKind.SNAPSHOT, CostKind.PUBLISH)
"""The kinds of work of the trainer gang; it accumulates together only where ranks take equally many."""

seconds = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0])


@dataclass(frozen=True, slots=True)
class Pool:
    """What `simulate` needs beside the run's settings."""

    lanes: tuple[SimulatedLane, ...]
    costs: CostTable
    incidents: tuple[Incident, ...] = ()


@st.composite
def pools_of(draw: st.DrawFn, run: Settings, *, all_at_once: bool = False) -> Pool:
    """Lanes of different speeds. Unless `all_at_once`, they start up at different times, and some come and go; the
    first lane of each role stays."""
    numbers = {LaneRole.ROLLOUT: run.num_rollout, LaneRole.TRAINER: run.num_trainer, LaneRole.REWARD: run.num_reward}
    lanes = [
        SimulatedLane(lane=f"{role}-{i}", role=role, start_up_seconds=0.0 if all_at_once else draw(seconds))
        for role, number in numbers.items()
        for i in range(number)
    ]
    incidents = [] if all_at_once else draw(st.lists(_incidents(run, lanes), max_size=4, unique_by=_lane_of))
    every_lane = [*lanes, *(incident.lane for incident in incidents if isinstance(incident, Arrival))]
    keys = [(lane.lane, kind) for lane in every_lane for kind in LANE_KINDS[lane.role]] + [
        (GANG, kind) for kind in GANG_KINDS
    ]
    return Pool(tuple(lanes), {key: Cost(draw(seconds), draw(seconds)) for key in keys}, tuple(incidents))


def _incidents(run: Settings, lanes: list[SimulatedLane]) -> st.SearchStrategy[Incident]:
    roles = [LaneRole.REWARD] if run.is_colocated else [LaneRole.REWARD, LaneRole.ROLLOUT]
    new = st.builds(
        lambda role, number, seconds: SimulatedLane(lane=f"new-{number}", role=role, start_up_seconds=seconds),
        st.sampled_from(roles),
        st.integers(0, 2),
        seconds,
    )
    times = st.floats(0, 30)
    leaving = [lane.lane for lane in lanes if lane.role is not LaneRole.TRAINER and not lane.lane.endswith("-0")]
    arrivals = st.builds(Arrival, times, new)
    return arrivals | st.builds(Loss, times, st.sampled_from(leaving)) if leaving else arrivals


def _lane_of(incident: Incident) -> str:
    return incident.lane.lane if isinstance(incident, Arrival) else incident.lane


def pool_of(costs: CostTable, *lanes: tuple[str, LaneRole], incidents: tuple[Incident, ...] = ()) -> Pool:
    return Pool(tuple(SimulatedLane(lane=lane, role=role) for lane, role in lanes), costs, incidents)


def simulate(run: Settings, pool: Pool) -> tuple[float, list[Span]]:
    """(seconds, spans) of the run; spans in the order in which they ended."""
    seconds, spans, _ = simulate_events(run, pool)
    return seconds, spans


def simulate_events(run: Settings, pool: Pool) -> tuple[float, list[Span], list[tuple[Event, float]]]:
    """(seconds, spans, events with their times) of the run."""
    spans: list[Span] = []
    events: list[tuple[Event, float]] = []
    simulator = Simulator(
        run.scheduler(),
        pool.lanes,
        pool.costs,
        spans.append,
        observe=lambda event, at: events.append((event, at)),
        incidents=pool.incidents,
        has_spread=partial(has_synthetic_spread, share_without=run.share_without_spread),
    )
    return simulator.run(), spans, events
