"""The bubble ledger adds up what lane time is spent on."""

import json

import pytest

from tests.scheduling.timeline import bubble_sums
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.scheduling.timeline.bubble_ledger import BubbleLedger


def work(lane: str, kind: SpanKind, start: float, end: float) -> Span:
    return Span(lane=lane, kind=kind, start=start, end=end)


def idle(lane: str, cause: IdleCause, start: float, end: float) -> Span:
    return Span(lane=lane, kind=SpanKind.IDLE, start=start, end=end, cause=cause)


def test_shares_are_by_kind_and_cause_of_one_lane_and_of_all() -> None:
    ledger = BubbleLedger()
    ledger.add(work("g", SpanKind.GENERATE, 0, 6))
    ledger.add(idle("g", IdleCause.BATCH_BARRIER, 6, 10))
    ledger.add(work("t", SpanKind.TRAIN, 0, 10))
    assert ledger.shares("g") == {(SpanKind.GENERATE, None): 0.6, (SpanKind.IDLE, IdleCause.BATCH_BARRIER): 0.4}
    assert ledger.shares()[SpanKind.IDLE, IdleCause.BATCH_BARRIER] == 0.2
    assert ledger.seconds()[SpanKind.TRAIN, None] == 10
    assert ledger.lanes == ("g", "t")


def test_no_time_has_no_shares() -> None:
    assert BubbleLedger().shares() == {}


@pytest.mark.parametrize("start", [5.9, 6.1])
def test_a_gap_or_an_overlap_is_refused(start: float) -> None:
    ledger = BubbleLedger()
    ledger.add(work("g", SpanKind.GENERATE, 0, 6))
    with pytest.raises(ValueError, match="must tile its lifetime"):
        ledger.add(work("g", SpanKind.GENERATE, start, 8))


def test_the_committed_sums_are_the_ledgers() -> None:
    assert json.loads(bubble_sums.PATH.read_text()) == bubble_sums.sums(), (
        "write it again: python -m tests.scheduling.timeline.bubble_sums"
    )
