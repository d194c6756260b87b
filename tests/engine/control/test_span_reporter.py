import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.engine.actors.reports import CallReport, GenerationReport
from worker.engine.control.clocks import LaneClock
from worker.engine.control.span_reporter import SpanReporter
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

LANE_OFFSET = 1000.0


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time


class Fleet:
    def __init__(self) -> None:
        self.handle = SimpleNamespace(clock=LaneClock(LANE_OFFSET))

    def names(self) -> list[str]:
        return ["a"]

    def __getitem__(self, lane: str) -> Any:
        return self.handle


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timeline(clock: Any, client: Any) -> SpanReporter:
    fleet: Any = Fleet()
    timeline = SpanReporter(fleet, clock, client, num_fragments_per_group=2)
    timeline.begin()
    timeline.follow(lambda lane: IdleCause.BATCH_BARRIER)
    return timeline


def told(timeline: SpanReporter, client: Any) -> list[tuple[Any, ...]]:
    timeline.end()
    spans: list[Span] = [span for event in client.events for span in event.spans]
    assert all(before.end == after.start for before, after in itertools.pairwise(spans))
    return [(span.kind, span.cause, span.seconds) for span in spans]


def report(start: float, end: float) -> CallReport[GenerationReport]:
    """Times of the lane's clock, which lies behind the driver's by `LANE_OFFSET`."""
    return CallReport(start=start, end=end, value=GenerationReport(seeds=(1,), decode_seconds=1.0))


def fragment(purpose: Purpose) -> Fragment:
    return Fragment(FragmentKey(purpose, 0, 3, 1), (4, 5), 0)


def test_a_lane_lost_while_the_scheduler_stands_still_takes_its_cause(
    timeline: SpanReporter, clock: Clock, client: Any
) -> None:
    timeline.follow(lambda lane: IdleCause.BATCH_BARRIER, lambda: "as before")
    timeline.settle(is_paused=False)
    clock.time += 3.0
    timeline.settle(is_paused=False)
    timeline.lost("a")
    timeline.settle(is_paused=False)
    clock.time += 2.0
    timeline.returned("a")
    timeline.settle(is_paused=False)
    clock.time += 1.0
    assert told(timeline, client)[-3:] == [
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 3.0),
        (SpanKind.IDLE, IdleCause.FAILURE, 2.0),
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 1.0),
    ]


def test_a_report_of_the_lanes_clock_lands_on_the_drivers(timeline: SpanReporter, clock: Clock, client: Any) -> None:
    clock.time = 1010.0
    timeline.record_generation("a", report(2.0, 8.0), fragment(Purpose.TRAIN), is_lent=False)
    timeline.settle(is_paused=False)
    assert told(timeline, client) == [
        (SpanKind.IDLE, IdleCause.START_UP, 2.0),
        (SpanKind.GENERATE, None, 5.0),
        (SpanKind.DECODE, None, 1.0),
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 2.0),
    ]
    generate = client.events[0].spans[1]
    assert (generate.group, generate.fragment, generate.num_samples) == (3, 7, 2)


def test_what_a_lent_lane_generates_is_told_apart(timeline: SpanReporter, clock: Clock, client: Any) -> None:
    clock.time = 1008.0
    timeline.record_generation("a", report(0.0, 8.0), fragment(Purpose.TRAIN), is_lent=True)
    assert [kind for kind, *_ in told(timeline, client)] == [SpanKind.LENT_GENERATE, SpanKind.DECODE]


def test_evaluating_is_one_stretch_whatever_it_is_made_of(timeline: SpanReporter, clock: Clock, client: Any) -> None:
    clock.time = 1008.0
    timeline.record_generation("a", report(0.0, 8.0), fragment(Purpose.EVALUATE), is_lent=True)
    assert told(timeline, client) == [(SpanKind.EVALUATE, None, 8.0)]


def test_a_paused_lane_pauses_and_a_lost_one_fails(timeline: SpanReporter, clock: Clock, client: Any) -> None:
    timeline.record("a", SpanKind.PULL, report(0.0, 1.0))
    for time, is_paused in ((1001.0, True), (1004.0, True), (1006.0, False)):
        clock.time = time
        timeline.settle(is_paused=is_paused)
    timeline.lost("a")
    clock.time = 1007.0
    timeline.settle(is_paused=False)
    clock.time = 1009.0
    timeline.returned("a")
    timeline.settle(is_paused=False)
    clock.time = 1010.0
    assert told(timeline, client) == [
        (SpanKind.PULL, None, 1.0),
        (SpanKind.PAUSE, None, 5.0),
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 1.0),
        (SpanKind.IDLE, IdleCause.FAILURE, 2.0),
        (SpanKind.IDLE, IdleCause.BATCH_BARRIER, 1.0),
    ]


def test_seconds_are_taken_once_and_starting_up_is_no_bubble(timeline: SpanReporter, clock: Clock) -> None:
    timeline.record("a", SpanKind.TRAIN, report(5.0, 8.0))
    assert timeline.take_seconds() == {SpanKind.TRAIN: 3.0}
    assert timeline.take_seconds() == {SpanKind.TRAIN: 0.0}
