"""The run's timeline: what lanes report of their own clock becomes spans of the driver's, told in bundles.

Work is recorded when its report comes in, with the times that the lane itself took; what lies between is idle, and the
scheduler names its cause. A lost lane idles as a failure until it is back; while the run is paused, free lanes pause.
"""

import time
from collections.abc import Callable
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
MAX_SPANS_PER_EVENT = 500

CauseOf = Callable[[str], IdleCause | None]
StateOf = Callable[[], object]


class SpanReporter:
    def __init__(
        self,
        lanes: ClusterLanes,
        clock: DriverClock,
        client: TelemetryClient,
        *,
        run: UUID,
        num_fragments_per_group: int,
    ) -> None:
        self._lanes = lanes
        self._clock = clock
        self._client = client
        self._num_fragments_per_group = num_fragments_per_group
        self._recorder = SpanRecorder(self._closed, self._cause, self._idle_state, run=run)
        self._ledger = BubbleLedger()
        self._told_seconds: dict[SpanKind, float] = {}
        self._waiting: list[Span] = []
        self._next_flush = 0.0
        self._scheduler_cause: CauseOf | None = None
        self._scheduler_state: StateOf = object
        self._num_followed = 0
        self._lost: set[str] = set()
        self._pausing: set[str] = set()

    # --- lanes ------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Every granted lane's life starts now, with starting up."""
        at = self._clock.now()
        ranks = {lane: rank for rank, lane in enumerate(self._lanes.names(LaneRole.TRAINER))}
        for lane in self._lanes.names():
            self._recorder.lane_started(lane, at, ranks.get(lane))

    def follow(self, cause_of: CauseOf, state_of: StateOf = object) -> None:
        """Ask this scheduler for the causes of idling from now on; `state_of` is as in `SpanRecorder`."""
        self._scheduler_cause, self._scheduler_state = cause_of, state_of
        self._num_followed += 1

    def lost(self, lane: str) -> None:
        self._lost.add(lane)

    def returned(self, lane: str) -> None:
        self._lost.discard(lane)

    def end(self) -> None:
        """Every lane's life ends now."""
        self._recorder.stop_all(self._clock.now())
        self._flush()

    # --- work -------------------------------------------------------------------------------------------------------

    def record(self, lane: str, kind: SpanKind, report: CallReport[Any], **work: int) -> None:
        """One stretch of work, from the lane's own report. `work` are fields of `Work`."""
        start, end = self._driver_times(lane, report)
        self._began(lane, kind, start, Work(**work))
        self._recorder.ended(lane, end)

    def record_fragment(self, lane: str, kind: SpanKind, report: CallReport[Any], fragment: Fragment) -> None:
        start, end = self._driver_times(lane, report)
        self._began(lane, kind, start, self._work_of(fragment))
        self._recorder.ended(lane, end)

    def record_generation(self, lane: str, report: CallReport[Any], fragment: Fragment, *, is_lent: bool) -> None:
        """Generating, then decoding; for an evaluation or a request both are evaluating."""
        if fragment.key.purpose is not Purpose.TRAIN:
            self.record_fragment(lane, SpanKind.EVALUATE, report, fragment)
            return
        start, end = self._driver_times(lane, report)
        work = self._work_of(fragment)
        self._began(lane, SpanKind.LENT_GENERATE if is_lent else SpanKind.GENERATE, start, work)
        self._began(lane, SpanKind.DECODE, end - report.value.decode_seconds, work)
        self._recorder.ended(lane, end)

    def settle(self, *, is_paused: bool) -> None:
        """Once a turn: lanes with nothing to do take their cause, or their part in the pause."""
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
        """Lane-seconds by kind that were closed since the last call, over all lanes; starting up is left out."""
        total: dict[SpanKind, float] = {}
        for (kind, cause), seconds in self._ledger.seconds().items():
            if cause is not IdleCause.START_UP:
                total[kind] = total.get(kind, 0.0) + seconds
        fresh = {kind: seconds - self._told_seconds.get(kind, 0.0) for kind, seconds in total.items()}
        self._told_seconds = total
        return fresh

    # --- inside -----------------------------------------------------------------------------------------------------

    def _began(self, lane: str, kind: SpanKind, at: float, work: Work) -> None:
        self._pausing.discard(lane)
        self._recorder.began(lane, kind, at, work)

    def _driver_times(self, lane: str, report: CallReport[Any]) -> tuple[float, float]:
        clock = self._lanes[lane].clock
        if clock.offset_seconds is None:
            # Its probe went unanswered; that the report has just come in bounds the offset well enough.
            now = self._clock.now()
            clock.measure(now, report.end, now)
        return clock.to_driver(report.start), clock.to_driver(report.end)

    def _work_of(self, fragment: Fragment) -> Work:
        key = fragment.key
        return Work(
            batch=key.batch,
            group=key.group,
            fragment=key.group * self._num_fragments_per_group + key.index,
            policy_version=fragment.policy_version,
            num_samples=len(fragment.members),
            num_units=len(fragment.members),
        )

    def _cause(self, lane: str) -> IdleCause | None:
        if lane in self._lost:
            return IdleCause.FAILURE
        return IdleCause.START_UP if self._scheduler_cause is None else self._scheduler_cause(lane)

    def _idle_state(self) -> object:
        return self._num_followed, frozenset(self._lost), self._scheduler_state()

    def _closed(self, span: Span) -> None:
        self._ledger.add(span)
        self._waiting.append(span)

    def _flush(self) -> None:
        self._next_flush = time.monotonic() + FLUSH_SECONDS
        while self._waiting:
            spans, self._waiting = self._waiting[:MAX_SPANS_PER_EVENT], self._waiting[MAX_SPANS_PER_EVENT:]
            self._client.emit(SpansEvent, spans=tuple(spans))
