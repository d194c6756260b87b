"""The simulator's times are those computed by hand, also on lanes that come and go."""

import pytest

from tests.scheduling.pools import pool_of, simulate, simulate_events
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.scheduling.core.costs import GANG, Cost, CostKind, CostTable
from worker.scheduling.core.messages import LaneJoined, LaneLost
from worker.scheduling.simulator.simulated_lanes import Arrival, Loss, SimulatedLane


def per_unit(table: dict[tuple[str, CostKind], float]) -> CostTable:
    return {key: Cost(0.0, seconds) for key, seconds in table.items()}


LANES = (("g", LaneRole.ROLLOUT), ("s", LaneRole.REWARD), ("t", LaneRole.TRAINER))
# A group of two trajectories is one micro-batch.
COSTS = per_unit(
    {
        ("g", CostKind.GENERATE): 1.0,
        ("s", CostKind.SCORE): 0.5,
        ("t", CostKind.ACCUMULATE): 4.0,
        ("t2", CostKind.ACCUMULATE): 4.0,
        (GANG, CostKind.COMMIT): 0.25,
        (GANG, CostKind.SNAPSHOT): 0.0625,
        (GANG, CostKind.PUBLISH): 0.5,
        ("g", CostKind.PULL): 0.125,
    }
)
TWO_GROUPS_OF_TWO = algebra_of(groups_per_minibatch=2, fragments=(1, 2))
ONE_OF_EACH = pool_of(COSTS, *LANES)


def test_the_time_of_a_batch_without_gap_is_generate_score_train_commit_snapshot_publish_pull_in_a_row() -> None:
    seconds, _ = simulate(Settings(algebra=TWO_GROUPS_OF_TWO, gap=False, num_batches=1), ONE_OF_EACH)
    assert seconds == 0.125 + 4 * 1.0 + 2 * 0.5 + 2 * 4.0 + 0.25 + 0.0625 + 0.5 + 0.125


def test_with_gap_the_first_group_trains_while_the_second_is_generated() -> None:
    seconds, spans = simulate(Settings(algebra=TWO_GROUPS_OF_TWO, gap=True, num_batches=1), ONE_OF_EACH)
    assert seconds == 0.125 + 2 * 1.0 + 2 * 0.5 + 2 * 4.0 + 0.25 + 0.0625 + 0.5 + 0.125
    of_trainer = [(span.cause or span.kind, span.seconds) for span in spans if span.lane == "t"]
    assert of_trainer == [
        (IdleCause.NO_FRAGMENT_READY, 2.125),
        (IdleCause.GROUP_INCOMPLETE, 1.0),
        (SpanKind.TRAIN, 4.0),
        (SpanKind.TRAIN, 4.0),
        (SpanKind.TRAIN, 0.25),
        (SpanKind.PUBLISH, 0.0625),
        (IdleCause.PUBLISH_WAIT, 0.5),
        (IdleCause.DRAIN, 0.125),
    ]


def test_one_batch_ahead_the_gang_trains_on_while_its_last_version_is_published() -> None:
    run = Settings(algebra=algebra_of(groups_per_minibatch=1, fragments=(1, 2)), max_staleness=1, num_batches=2)
    _, spans = simulate(run, ONE_OF_EACH)
    assert spans_of(spans, "t")[2:] == [
        (SpanKind.TRAIN, 3.125, 7.125),
        (SpanKind.TRAIN, 7.125, 7.375),
        (SpanKind.PUBLISH, 7.375, 7.4375),
        (SpanKind.TRAIN, 7.4375, 11.4375),
        (SpanKind.TRAIN, 11.4375, 11.6875),
        (SpanKind.PUBLISH, 11.6875, 11.75),
        (IdleCause.PUBLISH_WAIT, 11.75, 12.25),
        (IdleCause.DRAIN, 12.25, 12.375),
    ]


def test_a_slow_lane_takes_less_of_the_work() -> None:
    pool = pool_of({**COSTS, ("slow", CostKind.GENERATE): Cost(0.0, 4.0)}, *LANES, ("slow", LaneRole.ROLLOUT))
    _, spans = simulate(Settings(algebra=algebra_of(groups_per_minibatch=10, fragments=(1, 2)), num_batches=1), pool)
    num = {lane: sum(s.lane == lane and s.kind is SpanKind.GENERATE for s in spans) for lane in ("g", "slow")}
    assert num == {"g": 8, "slow": 2}


def test_two_trainer_lanes_share_the_micro_batches() -> None:
    pool = pool_of(COSTS, *LANES, ("t2", LaneRole.TRAINER))
    _, spans = simulate(Settings(algebra=TWO_GROUPS_OF_TWO, gap=False, num_batches=1), pool)
    assert [s.seconds for s in spans if s.lane == "t" and s.kind is SpanKind.TRAIN] == [4.0, 0.25]


def trained_by(spans: list[Span], lane: str) -> tuple[int, float]:
    """(micro-batches that a lane has trained, when it ended the last of them)."""
    shares = [span for span in spans if span.lane == lane and span.kind is SpanKind.TRAIN and span.num_units]
    return sum(span.num_units for span in shares), max(span.end for span in shares)


def test_a_slow_rank_takes_fewer_micro_batches_and_ends_with_the_others() -> None:
    pool = pool_of({**COSTS, ("slow", CostKind.ACCUMULATE): Cost(0.0, 12.0)}, *LANES, ("slow", LaneRole.TRAINER))
    twelve = algebra_of(groups_per_minibatch=12, fragments=(1, 2))
    _, spans = simulate(Settings(algebra=twelve, gap=False, num_batches=1), pool)
    (fast, ended), (slow, slow_ended) = trained_by(spans, "t"), trained_by(spans, "slow")
    assert (fast, slow) == (9, 3)
    assert ended == slow_ended


def test_ranks_in_step_take_equally_many_and_the_slowest_sets_the_pace() -> None:
    costs = {**COSTS, (GANG, CostKind.ACCUMULATE): Cost(0.0, 12.0)}
    twelve = algebra_of(groups_per_minibatch=12, fragments=(1, 2))
    run = Settings(algebra=twelve, gap=False, num_batches=1, equal_counts=True)
    _, spans = simulate(run, pool_of(costs, *LANES, ("slow", LaneRole.TRAINER)))
    assert trained_by(spans, "t") == trained_by(spans, "slow")
    shares = [s.seconds for s in spans if s.lane == "t" and s.kind is SpanKind.TRAIN and s.num_units]
    assert shares == [6 * 12.0]


def test_a_role_without_lanes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one reward lane"):
        simulate(Settings(algebra=TWO_GROUPS_OF_TWO), pool_of(COSTS, LANES[0], LANES[2]))


def test_every_span_of_work_with_a_unit_takes_its_units_times_their_cost() -> None:
    _, spans = simulate(Settings(algebra=TWO_GROUPS_OF_TWO, num_batches=1), ONE_OF_EACH)
    worked = [span for span in spans if span.num_units]
    assert {span.kind for span in worked} == {SpanKind.GENERATE, SpanKind.SCORE, SpanKind.TRAIN}
    per_unit = {SpanKind.GENERATE: 1.0, SpanKind.SCORE: 0.5, SpanKind.TRAIN: 4.0}
    for span in worked:
        assert span.seconds == span.num_units * per_unit[span.kind]
        assert span.rank == (0 if span.lane == "t" else None)


def spans_of(spans: list[Span], lane: str) -> list[tuple[str, float, float]]:
    return [(span.cause or span.kind, span.start, span.end) for span in spans if span.lane == lane]


def test_colocated_lanes_generate_the_whole_batch_then_train_it_with_a_switch_each_way() -> None:
    costs = {**COSTS, **{("t", kind): Cost(1.0) for kind in (CostKind.LEND, CostKind.RECLAIM)}}
    costs["t", CostKind.GENERATE] = Cost(0.0, 1.0)
    run = Settings(algebra=TWO_GROUPS_OF_TWO, placement=Placement.COLOCATED, num_batches=1)
    seconds, spans = simulate(run, pool_of(costs, ("t", LaneRole.TRAINER), ("s", LaneRole.REWARD)))
    assert spans_of(spans, "t") == [
        (SpanKind.SWITCH, 0, 1),
        (SpanKind.GENERATE, 1, 3),
        (SpanKind.GENERATE, 3, 5),
        (SpanKind.SWITCH, 5, 6),
        (SpanKind.TRAIN, 6, 14),
        (SpanKind.TRAIN, 14, 14.25),
        (SpanKind.PUBLISH, 14.25, 14.3125),
        (IdleCause.PUBLISH_WAIT, 14.3125, 14.8125),
    ]
    assert seconds == 14.8125


def test_an_idle_trainer_lane_is_lent_where_that_is_switched_on() -> None:
    costs = {**COSTS, ("t", CostKind.GENERATE): Cost(0.0, 1.0), ("t", CostKind.LEND): Cost(0.5)}
    pool = pool_of(costs, *LANES)
    for tag in (TrainerAssist.OFF, TrainerAssist.GREEDY):
        seconds, spans = simulate(Settings(algebra=TWO_GROUPS_OF_TWO, tag=tag, num_batches=1, gap=False), pool)
        assert (SpanKind.LENT_GENERATE in {span.kind for span in spans}) == (tag is TrainerAssist.GREEDY)
        scored_at = 5.125 if tag is TrainerAssist.OFF else 4.125
        assert seconds == scored_at + 8.0 + 0.25 + 0.0625 + 0.5 + 0.125


def test_the_work_of_a_lost_lane_is_done_again_and_its_spans_end_there() -> None:
    run = Settings(algebra=TWO_GROUPS_OF_TWO, gap=False, num_batches=1)
    pool = pool_of(
        COSTS, *LANES, incidents=(Loss(1.125, "g"), Arrival(2.0, SimulatedLane(lane="g", role=LaneRole.ROLLOUT)))
    )
    seconds, spans, events = simulate_events(run, pool)
    assert spans_of(spans, "g")[:4] == [
        (SpanKind.PULL, 0, 0.125),
        (SpanKind.GENERATE, 0.125, 1.125),
        (SpanKind.PULL, 2.0, 2.125),
        (SpanKind.GENERATE, 2.125, 4.125),
    ]
    assert seconds == 2.0 + 0.125 + 4 * 1.0 + 2 * 0.5 + 2 * 4.0 + 0.25 + 0.0625 + 0.5 + 0.125
    assert (LaneLost("g"), 1.125) in events
    # Meanwhile the trainer lane idles because of the failure.
    assert (IdleCause.FAILURE, 1.125, 2.0) in spans_of(spans, "t")


def test_a_lane_lost_while_it_starts_up_never_joins() -> None:
    late = SimulatedLane(lane="h", role=LaneRole.ROLLOUT, start_up_seconds=5.0)
    pool = pool_of(COSTS, *LANES, incidents=(Arrival(1.0, late), Loss(2.0, "h")))
    _, spans, events = simulate_events(Settings(algebra=TWO_GROUPS_OF_TWO, num_batches=1), pool)
    assert spans_of(spans, "h") == [(IdleCause.START_UP, 1.0, 2.0)]
    assert not any(isinstance(event, LaneJoined | LaneLost) and event.lane == "h" for event, _ in events)


def test_trainer_lanes_neither_come_nor_go() -> None:
    run = Settings(algebra=TWO_GROUPS_OF_TWO)
    for incident in (Loss(1.0, "t"), Arrival(1.0, SimulatedLane(lane="t2", role=LaneRole.TRAINER))):
        with pytest.raises(ValueError, match="must not name trainer lanes"):
            simulate(run, pool_of(COSTS, *LANES, incidents=(incident,)))


def test_a_run_left_without_a_role_is_refused_instead_of_waiting_forever() -> None:
    with pytest.raises(ValueError, match="must leave a lane of each role"):
        simulate(Settings(algebra=TWO_GROUPS_OF_TWO), pool_of(COSTS, *LANES, incidents=(Loss(1.0, "s"),)))


def test_work_without_a_cost_is_refused() -> None:
    costs = {key: cost for key, cost in COSTS.items() if key != ("s", CostKind.SCORE)}
    with pytest.raises(ValueError, match="must hold score on `s`"):
        simulate(Settings(algebra=TWO_GROUPS_OF_TWO), pool_of(costs, *LANES))
