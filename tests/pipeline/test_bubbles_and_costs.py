"""The books on lane time: where it went, and what work costs."""

import pytest

from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.pipeline.bubbles import BubbleLedger
from worker.pipeline.costs import LaneCosts


def work(lane: str, kind: SpanKind, start: float, end: float, num_samples: int = 0) -> Span:
    return Span(lane=lane, kind=kind, start=start, end=end, num_samples=num_samples)


def idle(lane: str, cause: IdleCause, start: float, end: float) -> Span:
    return Span(lane=lane, kind=SpanKind.IDLE, start=start, end=end, cause=cause)


def test_shares_tell_kinds_and_causes_of_one_lane_and_of_all() -> None:
    ledger = BubbleLedger()
    ledger.add(work("g", SpanKind.GENERATE, 0, 6))
    ledger.add(idle("g", IdleCause.BATCH_BARRIER, 6, 10))
    ledger.add(work("t", SpanKind.TRAIN, 0, 10))
    assert ledger.shares("g") == {(SpanKind.GENERATE, None): 0.6, (SpanKind.IDLE, IdleCause.BATCH_BARRIER): 0.4}
    assert ledger.idle_share("g") == 0.4
    assert ledger.idle_share() == 0.2
    assert ledger.seconds()[SpanKind.TRAIN, None] == 10
    assert ledger.lanes == ("g", "t")


def test_no_time_has_no_shares() -> None:
    assert BubbleLedger().shares() == {}
    assert BubbleLedger().idle_share() == 0


@pytest.mark.parametrize("start", [5.9, 6.1])
def test_a_gap_or_an_overlap_is_refused(start: float) -> None:
    ledger = BubbleLedger()
    ledger.add(work("g", SpanKind.GENERATE, 0, 6))
    with pytest.raises(ValueError, match="must tile its life"):
        ledger.add(work("g", SpanKind.GENERATE, start, 8))


def test_a_lane_that_left_may_come_back_later() -> None:
    ledger = BubbleLedger()
    ledger.add(work("g", SpanKind.GENERATE, 0, 6))
    ledger.lane_left("g")
    ledger.add(work("g", SpanKind.GENERATE, 60, 62))
    assert ledger.seconds("g") == {(SpanKind.GENERATE, None): 8}


def test_costs_follow_the_newest_spans_smoothly() -> None:
    costs = LaneCosts(newest_weight=0.5)
    costs.observe(work("g", SpanKind.GENERATE, 0, 8, num_samples=4))
    assert costs.seconds_per_sample("g", SpanKind.GENERATE) == 2
    costs.observe(work("g", SpanKind.GENERATE, 8, 12, num_samples=4))
    assert costs.seconds_per_sample("g", SpanKind.GENERATE) == 1.5


def test_rates_of_lanes_add_up_and_leave_with_them() -> None:
    costs = LaneCosts()
    costs.observe(work("g", SpanKind.GENERATE, 0, 2, num_samples=1))
    costs.observe(work("h", SpanKind.GENERATE, 0, 1, num_samples=4))
    assert costs.samples_per_second(SpanKind.GENERATE) == 4.5
    costs.forget("h")
    assert costs.samples_per_second(SpanKind.GENERATE) == 0.5
    assert costs.seconds_per_sample("h", SpanKind.GENERATE) is None


def test_spans_without_samples_tell_nothing_about_costs() -> None:
    costs = LaneCosts()
    costs.observe(work("g", SpanKind.GENERATE, 0, 2))
    costs.observe(work("g", SpanKind.PULL, 2, 3, num_samples=8))
    assert costs.seconds_per_sample("g", SpanKind.GENERATE) is None
    assert costs.samples_per_second(SpanKind.PULL) == 0


def test_the_weight_of_the_newest_is_a_fraction() -> None:
    with pytest.raises(ValueError, match=r"must be in \(0, 1\], got 0"):
        LaneCosts(newest_weight=0)
