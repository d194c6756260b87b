"""The simulator plays the real scheduler: its spans tile, its times are those one works out by hand."""

from collections import defaultdict
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipeline.books import Settings
from tests.pipeline.strategies import algebra_of, settings_of_runs
from worker.contracts.names import Role
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.pipeline.bubbles import BubbleLedger
from worker.pipeline.costs import GANG, Cost, CostKind, CostTable
from worker.pipeline.simulator import SimulatedLane, Simulator

seconds_drawn = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0])


@dataclass(frozen=True)
class Pool:
    lanes: tuple[SimulatedLane, ...]
    costs: CostTable


@st.composite
def pools_of(draw: st.DrawFn, run: Settings) -> Pool:
    """Lanes that differ in speed, and what everything costs on them."""
    numbers = {Role.ROLLOUT: run.num_rollout, Role.TRAINER: run.num_trainer, Role.REWARD: run.num_reward}
    lanes = tuple(
        SimulatedLane(lane=f"{role}-{i}", role=role, start_up_seconds=draw(seconds_drawn))
        for role, number in numbers.items()
        for i in range(number)
    )
    of_role = {
        Role.ROLLOUT: (CostKind.GENERATE, CostKind.PULL),
        Role.TRAINER: (CostKind.GENERATE, CostKind.PULL, CostKind.LEND, CostKind.RECLAIM),
        Role.REWARD: (CostKind.SCORE,),
    }
    keys = [(lane.lane, kind) for lane in lanes for kind in of_role[lane.role]]
    keys += [(GANG, kind) for kind in (CostKind.ACCUMULATE, CostKind.COMMIT, CostKind.PUBLISH)]
    return Pool(lanes, {key: Cost(draw(seconds_drawn), draw(seconds_drawn)) for key in keys})


def simulate(run: Settings, pool: Pool) -> tuple[float, list[Span]]:
    spans: list[Span] = []
    return Simulator(run.scheduler(), run.algebra, pool.lanes, pool.costs, spans.append).run(), spans


@settings(max_examples=80, deadline=None)
@given(run=settings_of_runs(), data=st.data())
def test_simulated_spans_tile_every_lane_from_start_to_end(run: Settings, data: st.DataObject) -> None:
    pool = data.draw(pools_of(run))
    seconds, spans = simulate(run, pool)
    ledger = BubbleLedger()
    by_lane = defaultdict(list)
    for span in spans:
        ledger.add(span)
        by_lane[span.lane].append(span)
    for lane in pool.lanes:
        edges = [0.0, *(edge for span in by_lane[lane.lane] for edge in (span.start, span.end)), seconds]
        assert edges[::2] == edges[1::2]
        assert sum(ledger.seconds(lane.lane).values()) == pytest.approx(seconds)
    assert simulate(run, pool) == (seconds, spans)


def pool_of(costs: CostTable, *lanes: tuple[str, Role]) -> Pool:
    return Pool(tuple(SimulatedLane(lane=lane, role=role) for lane, role in lanes), costs)


def per_unit(table: dict[tuple[str, CostKind], float]) -> CostTable:
    return {key: Cost(0.0, seconds) for key, seconds in table.items()}


LANES = (("g", Role.ROLLOUT), ("s", Role.REWARD), ("t", Role.TRAINER))
# A group of two trajectories is one micro-batch.
COSTS = per_unit(
    {
        ("g", CostKind.GENERATE): 1.0,
        ("s", CostKind.SCORE): 0.5,
        (GANG, CostKind.ACCUMULATE): 4.0,
        (GANG, CostKind.COMMIT): 0.25,
        (GANG, CostKind.PUBLISH): 0.5,
        ("g", CostKind.PULL): 0.125,
    }
)
TWO_GROUPS_OF_TWO = algebra_of(groups_per_minibatch=2, fragments=(1, 2))
ONE_OF_EACH = pool_of(COSTS, *LANES)


def test_the_time_of_a_batch_without_gap_is_generate_score_train_commit_publish_pull_in_a_row() -> None:
    seconds, _ = simulate(Settings(algebra=TWO_GROUPS_OF_TWO, gap=False, num_batches=1), ONE_OF_EACH)
    assert seconds == 0.125 + 4 * 1.0 + 2 * 0.5 + 2 * 4.0 + 0.25 + 0.5 + 0.125


def test_with_gap_the_first_group_trains_while_the_second_is_generated() -> None:
    seconds, spans = simulate(Settings(algebra=TWO_GROUPS_OF_TWO, gap=True, num_batches=1), ONE_OF_EACH)
    assert seconds == 0.125 + 2 * 1.0 + 2 * 0.5 + 2 * 4.0 + 0.25 + 0.5 + 0.125
    of_trainer = [(span.cause or span.kind, span.seconds) for span in spans if span.lane == "t"]
    assert of_trainer == [
        (IdleCause.NO_FRAGMENT_READY, 2.125),
        (IdleCause.GROUP_INCOMPLETE, 1.0),
        (SpanKind.TRAIN, 4.0),
        (SpanKind.TRAIN, 4.0),
        (SpanKind.TRAIN, 0.25),
        (SpanKind.PUBLISH, 0.5),
        (IdleCause.DRAIN, 0.125),
    ]


def test_a_slow_lane_takes_less_of_the_work() -> None:
    pool = pool_of({**COSTS, ("slow", CostKind.GENERATE): Cost(0.0, 4.0)}, *LANES, ("slow", Role.ROLLOUT))
    _, spans = simulate(Settings(algebra=algebra_of(groups_per_minibatch=10, fragments=(1, 2)), num_batches=1), pool)
    num = {lane: sum(s.lane == lane and s.kind is SpanKind.GENERATE for s in spans) for lane in ("g", "slow")}
    assert num == {"g": 8, "slow": 2}


def test_two_trainer_lanes_share_the_micro_batches() -> None:
    pool = pool_of(COSTS, *LANES, ("t2", Role.TRAINER))
    _, spans = simulate(Settings(algebra=TWO_GROUPS_OF_TWO, gap=False, num_batches=1), pool)
    assert [s.seconds for s in spans if s.lane == "t" and s.kind is SpanKind.TRAIN] == [4.0, 0.25]


def test_a_role_without_lanes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one reward lane"):
        simulate(Settings(algebra=TWO_GROUPS_OF_TWO), pool_of(COSTS, LANES[0], LANES[2]))
