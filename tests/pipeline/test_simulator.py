"""The simulator plays the real scheduler: its spans tile, its times are those one works out by hand."""

from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipeline.random_executor import Settings
from tests.pipeline.strategies import algebra_of, settings_of_runs
from worker.contracts.names import Role
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.pipeline.bubbles import BubbleLedger
from worker.pipeline.simulator import ExchangeProfile, LaneProfile, Simulator

costs = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0])
exchanges = st.builds(ExchangeProfile, commit_seconds=costs, publish_seconds=costs, pull_seconds=costs)


@st.composite
def profiles_of(draw: st.DrawFn, run: Settings) -> list[LaneProfile]:
    numbers = {Role.ROLLOUT: run.num_rollout, Role.TRAINER: run.num_trainer, Role.REWARD: run.num_reward}
    return [
        LaneProfile(lane=f"{role}-{i}", role=role, seconds_per_sample=draw(costs), start_up_seconds=draw(costs))
        for role, number in numbers.items()
        for i in range(number)
    ]


def simulate(run: Settings, lanes: list[LaneProfile], exchange: ExchangeProfile) -> tuple[float, list[Span]]:
    spans: list[Span] = []
    return Simulator(run.scheduler(), run.algebra, lanes, exchange, spans.append).run(), spans


@settings(max_examples=80, deadline=None)
@given(run=settings_of_runs(), exchange=exchanges, data=st.data())
def test_simulated_spans_tile_every_lane_from_start_to_end(
    run: Settings, exchange: ExchangeProfile, data: st.DataObject
) -> None:
    lanes = data.draw(profiles_of(run))
    seconds, spans = simulate(run, lanes, exchange)
    ledger = BubbleLedger()
    by_lane = defaultdict(list)
    for span in spans:
        ledger.add(span)
        by_lane[span.lane].append(span)
    for profile in lanes:
        edges = [0.0, *(edge for span in by_lane[profile.lane] for edge in (span.start, span.end)), seconds]
        assert edges[::2] == edges[1::2]
        assert sum(ledger.seconds(profile.lane).values()) == pytest.approx(seconds)
    assert simulate(run, lanes, exchange) == (seconds, spans)


@settings(max_examples=80, deadline=None)
@given(run=settings_of_runs(), exchange=exchanges, data=st.data())
def test_gap_never_makes_a_run_slower(run: Settings, exchange: ExchangeProfile, data: st.DataObject) -> None:
    lanes = data.draw(profiles_of(run))
    with_gap, _ = simulate(replace(run, gap=True), lanes, exchange)
    without, _ = simulate(replace(run, gap=False), lanes, exchange)
    assert with_gap <= without + 1e-9


ONE_OF_EACH = [
    LaneProfile(lane="g", role=Role.ROLLOUT, seconds_per_sample=1.0),
    LaneProfile(lane="s", role=Role.REWARD, seconds_per_sample=0.5),
    LaneProfile(lane="t", role=Role.TRAINER, seconds_per_sample=2.0),
]
EXCHANGE = ExchangeProfile(commit_seconds=0.25, publish_seconds=0.5, pull_seconds=0.125)
TWO_GROUPS_OF_TWO = algebra_of(groups_per_minibatch=2, fragments=(1, 2))


def test_the_time_of_a_batch_without_gap_is_generate_score_train_commit_publish_pull_in_a_row() -> None:
    run = Settings(algebra=TWO_GROUPS_OF_TWO, gap=False, num_batches=1)
    seconds, _ = simulate(run, ONE_OF_EACH, EXCHANGE)
    assert seconds == 0.125 + 4 * 1.0 + 2 * 0.5 + 4 * 2.0 + 0.25 + 0.5 + 0.125


def test_with_gap_the_first_group_trains_while_the_second_is_generated() -> None:
    run = Settings(algebra=TWO_GROUPS_OF_TWO, gap=True, num_batches=1)
    seconds, spans = simulate(run, ONE_OF_EACH, EXCHANGE)
    assert seconds == 0.125 + 2 * 1.0 + 2 * 0.5 + 4 * 2.0 + 0.25 + 0.5 + 0.125
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
    lanes = [*ONE_OF_EACH, LaneProfile(lane="slow", role=Role.ROLLOUT, seconds_per_sample=4.0)]
    run = Settings(algebra=algebra_of(groups_per_minibatch=10, fragments=(1, 2)), num_batches=1)
    _, spans = simulate(run, lanes, ExchangeProfile())
    num = {lane: sum(s.lane == lane and s.kind is SpanKind.GENERATE for s in spans) for lane in ("g", "slow")}
    assert num == {"g": 8, "slow": 2}


def test_two_trainer_lanes_share_the_samples_and_wait_for_the_slower() -> None:
    lanes = [*ONE_OF_EACH, LaneProfile(lane="t2", role=Role.TRAINER, seconds_per_sample=3.0)]
    run = Settings(algebra=TWO_GROUPS_OF_TWO, gap=False, num_batches=1)
    _, spans = simulate(run, lanes, ExchangeProfile())
    assert [s.seconds for s in spans if s.lane == "t" and s.kind is SpanKind.TRAIN] == [6.0]


def test_a_role_without_lanes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one reward lane"):
        simulate(Settings(algebra=TWO_GROUPS_OF_TWO), [ONE_OF_EACH[0], ONE_OF_EACH[2]], EXCHANGE)
