import itertools
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from worker.contracts.names import LaneRole
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.engine.actors.reports import CallReport, GenerationReport
from worker.engine.control.clocks import LaneClock
from worker.engine.control.span_reporter import SpanReporter
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

LANE_OFFSET = 1000.0
RUN = UUID(int=7)


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time


class OneLane:
    def __init__(self) -> None:
        self.handle = SimpleNamespace(clock=LaneClock(LANE_OFFSET))

    def names(self, role: LaneRole | None = None) -> list[str]:
        return ["a"]

    def __getitem__(self, lane: str) -> Any:
        return self.handle


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reporter(clock: Any, client: Any) -> SpanReporter:
    lanes: Any = OneLane()
    made = SpanReporter(lanes, clock, client, run=RUN)
    made.begin()
    made.follow(lambda lane: IdleCause.BATCH_BARRIER)
    return made


def reported(reporter: SpanReporter, client: Any) -> list[tuple[Any, ...]]:
    reporter.end()
    spans: list[Span] = [span for event in client.events for span in event.spans]
    assert all(before.end == after.start for before, after in itertools.pairwise(spans))
    return [(span.kind, span.cause, span.seconds) for span in spans]


def report(start: float, end: float) -> CallReport[tuple[GenerationReport, ...]]:
    """A report with times of the lane's clock, to which `LANE_OFFSET` is added to give driver time."""
    return generation_report(start, end, 1)


def generation_report(start: float, end: float, num_fragments: int) -> CallReport[tuple[GenerationReport, ...]]:
    """The report of a call whose fragments each took an equal share, a second of it to decode."""
    seconds = (end - start) / num_fragments
    generated = GenerationReport(seeds=(1,), generate_seconds=max(0.0, seconds - 1.0), decode_seconds=1.0)
    return CallReport(start=start, end=end, value=(generated,) * num_fragments)


def fragment(purpose: Purpose) -> Fragment:
    return Fragment(FragmentKey(purpose, 0, 3, 1), (4, 5), 0)


def test_spans_name_the_rank_the_units_and_the_run_worked_for(
    reporter: SpanReporter, clock: Clock, client: Any
) -> None:
    reporter.record("a", SpanKind.TRAIN, report(1.0, 3.0), batch=0, num_units=4)
    clock.time += 4.0
    reported(reporter, client)
    spans = [span for event in client.events for span in event.spans]
    assert {span.rank for span in spans} == {0}
    assert {(span.kind, span.for_run, span.num_units) for span in spans} == {
        (SpanKind.IDLE, None, 0),
        (SpanKind.TRAIN, RUN, 4),
    }


def test_a_lost_lane_is_idle_as_a_failure_although_the_schedulers_state_is_unchanged(
    reporter: SpanReporter, clock: Clock, client: Any
) -> None:
    reporter.follow(lambda lane: IdleCause.BATCH_BARRIER, lambda: "unchanged")
    reporter.settle(is_paused=False)
    clock.time += 3.0
    reporter.settle(is_paused=False)
    reporter.lost("a")
    reporter.settle(is_paused=False)
    clock.time += 2.0
    reporter.returned("a")
    reporter.settle(is_paused=False)
    clock.time += 1.0
    assert reported(reporter, client)[-3:] == [
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 3.0),
        (SpanKind.IDLE, IdleCause.FAILURE, 2.0),
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 1.0),
    ]


def test_spans_are_in_driver_time(reporter: SpanReporter, clock: Clock, client: Any) -> None:
    clock.time = 1010.0
    reporter.record_generation("a", report(2.0, 8.0), [fragment(Purpose.TRAIN)], is_lent=False)
    reporter.settle(is_paused=False)
    assert reported(reporter, client) == [
        (SpanKind.IDLE, IdleCause.START_UP, 2.0),
        (SpanKind.GENERATE, None, 5.0),
        (SpanKind.DECODE, None, 1.0),
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 2.0),
    ]
    generate = client.events[0].spans[1]
    assert (generate.group, generate.fragment, generate.num_samples) == (3, 1, 2)


def test_each_fragment_of_a_call_has_spans_of_its_own(reporter: SpanReporter, clock: Clock, client: Any) -> None:
    clock.time = 1010.0
    fragments = [Fragment(FragmentKey(Purpose.TRAIN, 0, group, 0), (0, 1), 0) for group in (3, 4)]
    reporter.record_generation("a", generation_report(2.0, 8.0, 2), fragments, is_lent=False)
    reporter.settle(is_paused=False)
    assert reported(reporter, client)[1:5] == [
        (SpanKind.GENERATE, None, 2.0),
        (SpanKind.DECODE, None, 1.0),
        (SpanKind.GENERATE, None, 2.0),
        (SpanKind.DECODE, None, 1.0),
    ]
    assert [span.group for span in client.events[0].spans[1:5]] == [3, 3, 4, 4]


def test_a_lent_lane_has_spans_of_lent_generation(reporter: SpanReporter, clock: Clock, client: Any) -> None:
    clock.time = 1008.0
    reporter.record_generation("a", report(0.0, 8.0), [fragment(Purpose.TRAIN)], is_lent=True)
    assert [kind for kind, *_ in reported(reporter, client)] == [SpanKind.LENT_GENERATE, SpanKind.DECODE]


def test_evaluating_is_one_span_of_generating_and_decoding(reporter: SpanReporter, clock: Clock, client: Any) -> None:
    clock.time = 1008.0
    reporter.record_generation("a", report(0.0, 8.0), [fragment(Purpose.EVALUATE)], is_lent=True)
    assert reported(reporter, client) == [(SpanKind.EVALUATE, None, 8.0)]


def test_a_paused_lane_pauses_and_a_lost_one_is_idle_as_a_failure(
    reporter: SpanReporter, clock: Clock, client: Any
) -> None:
    reporter.record("a", SpanKind.PULL, report(0.0, 1.0))
    for time, is_paused in ((1001.0, True), (1004.0, True), (1006.0, False)):
        clock.time = time
        reporter.settle(is_paused=is_paused)
    reporter.lost("a")
    clock.time = 1007.0
    reporter.settle(is_paused=False)
    clock.time = 1009.0
    reporter.returned("a")
    reporter.settle(is_paused=False)
    clock.time = 1010.0
    assert reported(reporter, client) == [
        (SpanKind.PULL, None, 1.0),
        (SpanKind.PAUSE, None, 5.0),
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 1.0),
        (SpanKind.IDLE, IdleCause.FAILURE, 2.0),
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 1.0),
    ]


def test_lane_seconds_are_returned_once_and_without_starting_up(reporter: SpanReporter, clock: Clock) -> None:
    reporter.record("a", SpanKind.TRAIN, report(5.0, 8.0))
    assert reporter.take_seconds() == {SpanKind.TRAIN: 3.0}
    assert reporter.take_seconds() == {SpanKind.TRAIN: 0.0}
