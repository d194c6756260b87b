"""Reports the run's timeline: call reports, timed by each lane's clock, become spans in driver time, emitted together.

Work is recorded when its report arrives, with the times that the lane measured; the time between is idle, with the
cause that the scheduler names. A lost lane is idle with cause `failure` until it is back, one that leaves or changes
its role with cause `resize`. While the run is paused, idle lanes have `pause` spans.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from worker.contracts.events import SpansEvent
from worker.contracts.names import LaneRole
from worker.contracts.spans import IdleCause, Span, SpanKind
from worker.engine.actors.reports import CallReport
from worker.engine.control.clocks import DriverClock
from worker.engine.control.cluster_lanes import ClusterLanes
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.core.messages import Fragment, Purpose
from worker.scheduling.timeline.bubble_ledger import BubbleLedger
from worker.scheduling.timeline.span_recorder import SpanRecorder, Work

FLUSH_SECONDS = 0.5
"""How often spans are emitted: often enough for a timeline that is watched live."""
MAX_SPANS_PER_EVENT = 500
"""The most spans of one event, so that an event stays far below the size of one post to the web."""

CauseOf = Callable[[str], IdleCause | None]
StateOf = Callable[[], object]


class SpanReporter:
    """Records the spans of all lanes, and emits them when they end."""

    def __init__(self, lanes: ClusterLanes, clock: DriverClock, client: TelemetryClient, *, run: UUID) -> None:
        """Record spans of `lanes` for `run`, and emit them with `client`."""
        self._lanes = lanes
        self._clock = clock
        self._client = client
        self._recorder = SpanRecorder(self._closed, self._cause, self._idle_state, run=run)
        self._ledger = BubbleLedger()
        self._reported_seconds: dict[SpanKind, float] = {}
        """By kind: the lane-seconds at the last `take_seconds`."""
        self._waiting: list[Span] = []
        """Ended spans that are not emitted yet."""
        self._next_flush = 0.0
        self._scheduler_cause: CauseOf | None = None
        self._scheduler_state: StateOf = object
        self._num_schedulers = 0
        """The number of schedulers followed, which tells apart equal states of two schedulers."""
        self._lost: set[str] = set()
        self._resizing: set[str] = set()
        """Lanes that leave, or whose gang or role changes, until they work again."""
        self._pausing: set[str] = set()
        """Lanes whose open span is a pause."""

    # --- lanes ------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Open the spans of every granted lane, with starting up."""
        at = self._clock.now()
        ranks = {lane: rank for rank, lane in enumerate(self._lanes.names(LaneRole.TRAINER))}
        for lane in self._lanes.names():
            self._recorder.lane_started(lane, at, ranks.get(lane))

    def follow(self, cause_of: CauseOf, state_of: StateOf = object) -> None:
        """Take idle causes from a new scheduler; `cause_of` and `state_of` are `idle_cause` and `idle_state` of
        `SpanRecorder`."""
        self._scheduler_cause, self._scheduler_state = cause_of, state_of
        self._num_schedulers += 1

    def lost(self, lane: str) -> None:
        """From now on the lane is idle with cause `failure`."""
        self._lost.add(lane)

    def resizing(self, lane: str) -> None:
        """From now on the lane is idle with cause `resize`."""
        self._resizing.add(lane)

    def returned(self, lane: str) -> None:
        """The lane is ready, so the scheduler names its idle cause again."""
        self._lost.discard(lane)
        self._resizing.discard(lane)

    def added(self, lane: str) -> None:
        """Open the spans of a lane that joins the run, with starting up."""
        self._recorder.lane_started(lane, self._clock.now())

    def removed(self, lane: str) -> None:
        """End the spans of a lane that has left the run."""
        at = self._clock.now()
        self._recorder.settle(at)
        self._recorder.lane_stopped(lane, at)
        self._pausing.discard(lane)
        self.returned(lane)

    def gang_replaced(self, members: Sequence[str]) -> None:
        """From now on the trainer lanes are `members`, in rank order."""
        ranks = {lane: rank for rank, lane in enumerate(members)}
        for lane in self._recorder.lanes:
            self._recorder.set_rank(lane, ranks.get(lane))

    def end(self) -> None:
        """End the spans of every lane, and emit them."""
        self._recorder.stop_all(self._clock.now())
        self._flush()

    # --- work -------------------------------------------------------------------------------------------------------

    def record(self, lane: str, kind: SpanKind, report: CallReport[Any], **work: int) -> None:
        """Record one span from a lane's report; `work` are fields of `Work`."""
        start, end = self._driver_times(lane, report)
        self._began(lane, kind, start, Work(**work))
        self._recorder.ended(lane, end)

    def record_fragment(self, lane: str, kind: SpanKind, report: CallReport[Any], fragment: Fragment) -> None:
        """Record one span of work on a fragment."""
        start, end = self._driver_times(lane, report)
        self._began(lane, kind, start, self._work_of(fragment))
        self._recorder.ended(lane, end)

    def record_generation(
        self, lane: str, report: CallReport[Any], fragments: Sequence[Fragment], *, is_lent: bool
    ) -> None:
        """Record for each fragment of a call a span of generating and one of decoding, or one of evaluating. Fragments
        that share passes have consecutive spans, as long as their shares of the call."""
        start, end = self._driver_times(lane, report)
        kind = SpanKind.LENT_GENERATE if is_lent else SpanKind.GENERATE
        measured = [generated.generate_seconds + generated.decode_seconds for generated in report.value]
        # What the call took besides, to pack trajectories say, is shared out over its fragments evenly.
        besides = (end - start - sum(measured)) / len(measured)
        for fragment, generated, seconds in zip(fragments, report.value, measured, strict=True):
            work, fragment_end = self._work_of(fragment), start + seconds + besides
            if fragment.key.purpose is Purpose.TRAIN:
                self._began(lane, kind, start, work)
                self._began(lane, SpanKind.DECODE, fragment_end - generated.decode_seconds, work)
            else:
                self._began(lane, SpanKind.EVALUATE, start, work)
            start = fragment_end
        self._recorder.ended(lane, end)

    def settle(self, *, is_paused: bool) -> None:
        """Give idle lanes their present cause, or a pause; called once per iteration of the controller's loop."""
        at = self._clock.now()
        for lane in self._recorder.lanes:
            if is_paused and lane not in self._pausing and self._cause(lane) is not None:
                self._recorder.began(lane, SpanKind.PAUSE, at)
                self._pausing.add(lane)
            elif not is_paused and lane in self._pausing:
                self._pausing.discard(lane)
                self._recorder.ended(lane, at)
        self._recorder.settle(at)
        if time.monotonic() >= self._next_flush:
            self._flush()

    def take_seconds(self) -> dict[SpanKind, float]:
        """By kind: the lane-seconds of spans that ended since the last call, over all lanes, without starting up."""
        total: dict[SpanKind, float] = {}
        for (kind, cause), seconds in self._ledger.seconds().items():
            if cause is not IdleCause.START_UP:
                total[kind] = total.get(kind, 0.0) + seconds
        added = {kind: seconds - self._reported_seconds.get(kind, 0.0) for kind, seconds in total.items()}
        self._reported_seconds = total
        return added

    def _began(self, lane: str, kind: SpanKind, at: float, work: Work) -> None:
        self._pausing.discard(lane)
        self._recorder.began(lane, kind, at, work)

    def _driver_times(self, lane: str, report: CallReport[Any]) -> tuple[float, float]:
        clock = self._lanes[lane].clock
        if clock.offset_seconds is None:
            # The lane did not answer its clock probe. The report has just arrived, so it ended about now.
            now = self._clock.now()
            clock.measure(now, report.end, now)
        return clock.to_driver(report.start), clock.to_driver(report.end)

    def _work_of(self, fragment: Fragment) -> Work:
        key = fragment.key
        return Work(
            batch=key.batch,
            group=key.group,
            fragment=key.index,
            policy_version=fragment.policy_version,
            num_samples=len(fragment.members),
            num_units=len(fragment.members),
        )

    def _cause(self, lane: str) -> IdleCause | None:
        if lane in self._lost:
            return IdleCause.FAILURE
        if lane in self._resizing and (self._scheduler_cause is None or self._scheduler_cause(lane) is not None):
            return IdleCause.RESIZE
        return IdleCause.START_UP if self._scheduler_cause is None else self._scheduler_cause(lane)

    def _idle_state(self) -> object:
        return self._num_schedulers, frozenset(self._lost), frozenset(self._resizing), self._scheduler_state()

    def _closed(self, span: Span) -> None:
        self._ledger.add(span)
        self._waiting.append(span)

    def _flush(self) -> None:
        self._next_flush = time.monotonic() + FLUSH_SECONDS
        while self._waiting:
            spans, self._waiting = self._waiting[:MAX_SPANS_PER_EVENT], self._waiting[MAX_SPANS_PER_EVENT:]
            self._client.emit(SpansEvent, spans=tuple(spans))
