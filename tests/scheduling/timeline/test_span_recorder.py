"""A lane's spans tile its lifetime in every schedule."""

from collections import defaultdict
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.protocol_checker import GANG, worker_of
from tests.scheduling.random_executor import RandomExecutor
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import settings_of_runs
from worker.contracts.names import LaneRole
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.scheduling.core.messages import (
    Accumulate,
    Action,
    Commit,
    Event,
    Generate,
    LaneJoined,
    LaneLost,
    Pull,
    Score,
    Snapshot,
    Switch,
)
from worker.scheduling.timeline.bubble_ledger import BubbleLedger
from worker.scheduling.timeline.span_recorder import SpanRecorder, Work

KINDS: dict[type[Action], SpanKind] = {
    Generate: SpanKind.GENERATE,
    Score: SpanKind.SCORE,
    Pull: SpanKind.PULL,
    Accumulate: SpanKind.TRAIN,
    Commit: SpanKind.TRAIN,
    Snapshot: SpanKind.PUBLISH,
    Switch: SpanKind.SWITCH,
}


class Timekeeper:
    """Records a random schedule by a clock that advances by random amounts, sometimes by none."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = 1_790_000_000.0
        self.spans: list[Span] = []
        self.lifetimes: dict[str, list[float]] = {}
        self.busy: dict[str, list[str]] = {}

    def observe(self, executor: RandomExecutor, events: list[Event], actions: list[Action]) -> None:
        if not self.lifetimes:
            scheduler = executor.scheduler
            self.recorder = SpanRecorder(self.spans.append, scheduler.state.idle_cause, scheduler.state.idle_state)
        for event in events:
            if isinstance(event, LaneLost):
                self.busy.pop(event.lane, None)
                self.recorder.lane_stopped(event.lane, self.now)
                self.lifetimes[event.lane].append(self.now)
            elif isinstance(event, LaneJoined):
                self.recorder.lane_started(event.lane, self.now)
                self.lifetimes[event.lane] = [self.now]
        for worker in [worker for worker in self.busy if worker not in executor.checker.under_way]:
            self._end(worker)
        for action in actions:
            self._begin(executor, action)
        self.recorder.settle(self.now)
        self.now += self.random.choice([0.0, 0.001, 1.0, self.random.random()])

    def _end(self, worker: str) -> None:
        for lane in self.busy.pop(worker):
            self.recorder.ended(lane, self.now)

    def _begin(self, executor: RandomExecutor, action: Action) -> None:
        if type(action) not in KINDS:
            return
        worker = worker_of(action)
        if worker in self.busy:
            self._end(worker)
        trainers = [lane for lane, role in executor.checker.roles.items() if role is LaneRole.TRAINER]
        self.busy[worker] = trainers if worker == GANG else [worker]
        for lane in self.busy[worker]:
            # A lane's clock is mapped to the driver's only to within milliseconds.
            self.recorder.began(lane, KINDS[type(action)], self.now + self.random.choice([0.0, -0.002]))


@settings(max_examples=100, deadline=None)
@given(run=settings_of_runs(disturbance=0.1), seed=st.integers(0, 2**32))
def test_spans_tile_every_lanes_lifetime_and_add_up_to_it(run: Settings, seed: int) -> None:
    timekeeper = Timekeeper(seed)
    RandomExecutor(run, seed, observe=timekeeper.observe).run()
    for lane in timekeeper.recorder.lanes:
        timekeeper.lifetimes[lane].append(timekeeper.now)
    timekeeper.recorder.stop_all(timekeeper.now)
    ledger = BubbleLedger()
    by_lane: dict[str, list[Span]] = defaultdict(list)
    for span in timekeeper.spans:
        ledger.add(span)
        by_lane[span.lane].append(span)
    for lane, (start, end) in timekeeper.lifetimes.items():
        edges = [start, *(edge for span in by_lane[lane] for edge in (span.start, span.end)), end]
        assert edges[::2] == edges[1::2]
        assert sum(ledger.seconds(lane).values()) == pytest.approx(end - start, abs=1e-5)
        assert end == start or sum(ledger.shares(lane).values()) == pytest.approx(1)


class Recording:
    """A recorder whose idle causes the test sets."""

    def __init__(self) -> None:
        self.cause: IdleCause | None = IdleCause.START_UP
        self.spans: list[Span] = []
        self.recorder = SpanRecorder(self.spans.append, lambda _: self.cause)

    def spans_of(self) -> list[tuple[str, float, float]]:
        return [(span.cause or span.kind, span.start, span.end) for span in self.spans]


def test_an_idle_span_ends_where_its_cause_changes() -> None:
    recording = Recording()
    recorder = recording.recorder
    recorder.lane_started("g", 0.0)
    recorder.settle(1.0)
    recording.cause = IdleCause.BATCH_BARRIER
    recorder.settle(2.0)
    recorder.settle(3.0)
    recording.cause = IdleCause.PUBLISH_WAIT
    recorder.settle(4.0)
    recorder.began("g", SpanKind.PULL, 5.0)
    assert recording.spans_of() == [("start_up", 0, 2), ("batch_barrier", 2, 4), ("publish_wait", 4, 5)]


def test_a_lane_handed_work_keeps_its_cause_until_it_reports_the_start() -> None:
    recording = Recording()
    recorder = recording.recorder
    recorder.lane_started("g", 0.0)
    recording.cause = IdleCause.BATCH_BARRIER
    recorder.settle(1.0)
    recording.cause = None
    recorder.settle(9.0)
    recorder.began("g", SpanKind.GENERATE, 1.5, Work(batch=0, group=2, num_samples=8))
    recorder.began("g", SpanKind.DECODE, 3.0)
    recorder.ended("g", 4.0)
    recorder.lane_stopped("g", 4.0)
    assert recording.spans_of() == [
        ("start_up", 0, 1),
        ("batch_barrier", 1, 1.5),
        ("generate", 1.5, 3),
        ("decode", 3, 4),
    ]
    assert (recording.spans[2].batch, recording.spans[2].group, recording.spans[2].num_samples) == (0, 2, 8)


def test_only_lanes_of_the_gang_have_a_rank() -> None:
    recording = Recording()
    for lane, rank in (("trainer", 1), ("rollout", None)):
        recording.recorder.lane_started(lane, 0.0, rank)
    recording.recorder.stop_all(1.0)
    assert {span.lane: span.rank for span in recording.spans} == {"trainer": 1, "rollout": None}


def test_a_gap_between_two_pieces_of_work_is_their_dispatch() -> None:
    recording = Recording()
    recording.recorder.lane_started("g", 0.0)
    recording.recorder.began("g", SpanKind.GENERATE, 0.0)
    recording.recorder.ended("g", 1.0)
    recording.recorder.began("g", SpanKind.GENERATE, 1.25)
    recording.recorder.lane_stopped("g", 2.0)
    assert recording.spans_of() == [("generate", 0, 1), ("dispatch", 1, 1.25), ("generate", 1.25, 2)]


def test_times_of_a_clock_slightly_behind_keep_the_tiling() -> None:
    recording = Recording()
    recording.recorder.lane_started("g", 10.0)
    recording.recorder.began("g", SpanKind.GENERATE, 9.999)
    recording.recorder.ended("g", 11.0)
    recording.recorder.began("g", SpanKind.GENERATE, 10.999)
    recording.recorder.lane_stopped("g", 12.0)
    assert recording.spans_of() == [("generate", 10, 11), ("generate", 11, 12)]


def test_calls_out_of_order_are_refused() -> None:
    recorder = Recording().recorder
    with pytest.raises(ValueError, match="`lane_started` first"):
        recorder.began("g", SpanKind.GENERATE, 0.0)
    recorder.lane_started("g", 0.0)
    with pytest.raises(ValueError, match="must be stopped"):
        recorder.lane_started("g", 1.0)
    with pytest.raises(ValueError, match="must be at work to end it"):
        recorder.ended("g", 1.0)
    with pytest.raises(ValueError, match="must be work"):
        recorder.began("g", SpanKind.IDLE, 1.0)
