"""Turns reports of work into spans that tile each lane's lifetime without gap or overlap.

The executor reports when work began and ended, in seconds of the driver's clock; the time between is idle, and the
scheduler names its cause. One iteration of an executor's loop:

    recorder.ended(lane, at)         the work becomes a span; the lane idles from here on, for a cause not known yet
    scheduler.apply(event)
    scheduler.next_actions()  ──►    recorder.began(lane, kind, at)    the idle time before becomes a span
    recorder.settle(at)              lanes that still idle get their cause; a change of cause starts a new span

Invariant: a lane's spans are in order, each starts where the last one ended, and idle spans always have a cause.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from worker.contracts.spans import IdleCause, Span, SpanKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work in a span, in so far as the executor knows it."""

    batch: int | None = None
    group: int | None = None
    fragment: int | None = None
    """The fragment's index within its batch."""
    policy_version: int | None = None
    num_samples: int = 0
    """The number of trajectories generated, scored or trained."""
    num_units: int = 0
    """The number of units that each lane at this work does, as `CostKind` counts them."""


_NOTHING = Work()
_FOR_NO_RUN = frozenset({SpanKind.IDLE, SpanKind.PAUSE})
"""Kinds of span in which a lane works for nobody."""


@dataclass(slots=True)
class _OpenSpan:
    """A span that has begun and not ended."""

    start: float
    """In seconds of the driver's clock."""
    kind: SpanKind
    work: Work = _NOTHING
    cause: IdleCause | None = None
    """The cause of an idle span; `None` until the scheduler is asked for it."""


class SpanRecorder:
    """Holds one open span for each lane and passes every closed one to `emit`."""

    def __init__(
        self,
        emit: Callable[[Span], None],
        idle_cause: Callable[[str], IdleCause | None],
        idle_state: Callable[[], object] = object,
        *,
        run: UUID | None = None,
    ) -> None:
        """
        Args:
            idle_cause: `SchedulerState.idle_cause`: why a lane has nothing to do; `None` for a lane that has been given
                work whose beginning is not reported yet.
            idle_state: `SchedulerState.idle_state`: a value that stays equal for as long as no lane's cause changes, so
                that thousands of idle lanes are asked only when it has changed.
            run: The run that the lanes work for; `None` in simulations.
        """
        self._emit = emit
        self._idle_cause = idle_cause
        self._idle_state = idle_state
        self._run = run
        self._ranks: dict[str, int] = {}
        self._last_idle_state: object = None
        self._open: dict[str, _OpenSpan] = {}
        self._idle: dict[str, _OpenSpan] = {}
        self._without_cause: dict[str, _OpenSpan] = {}

    @property
    def lanes(self) -> tuple[str, ...]:
        """Lanes that are started and not stopped."""
        return tuple(self._open)

    def lane_started(self, lane: str, at: float, rank: int | None = None) -> None:
        """Begin the lane's lifetime with starting up; `rank` is its rank in the trainer gang, where it is in it.

        Raises `ValueError` for a lane that is recorded already.
        """
        if lane in self._open:
            raise ValueError(
                f"lane `{lane}` must be stopped before it starts again, got a second start: its spans would overlap"
            )
        self._open[lane] = self._idle[lane] = _OpenSpan(at, SpanKind.IDLE, cause=IdleCause.START_UP)
        if rank is not None:
            self._ranks[lane] = rank

    def set_rank(self, lane: str, rank: int | None) -> None:
        """Set the rank of the lane's spans from its open one on; `None` where it is in no gang."""
        if rank is None:
            self._ranks.pop(lane, None)
        else:
            self._ranks[lane] = rank

    def began(self, lane: str, kind: SpanKind, at: float, work: Work = _NOTHING) -> None:
        """Begin a span of work, which ends the lane's idle span or its previous work. Raises `ValueError` for idling,
        which only `ended` begins."""
        if kind is SpanKind.IDLE:
            raise ValueError("`kind` must be work, got `idle`: call `ended`, the scheduler names the cause")
        start = self._close(lane, at)
        self._open[lane] = _OpenSpan(start, kind, work)

    def ended(self, lane: str, at: float) -> None:
        """End the lane's work at `at`; the next `settle` finds out why it idles. Raises `ValueError` for an idle
        lane."""
        if self._open_span(lane).kind is SpanKind.IDLE:
            raise ValueError(f"lane `{lane}` must be at work to end it, got an idle lane: call `began` first")
        span = _OpenSpan(self._close(lane, at), SpanKind.IDLE)
        self._open[lane] = self._idle[lane] = self._without_cause[lane] = span

    def settle(self, at: float) -> None:
        """Give every idle lane its present cause; where the cause has changed, a new span begins at `at`."""
        state = self._idle_state()
        to_ask = self._without_cause if state == self._last_idle_state else self._idle
        self._last_idle_state = state
        for lane, span in list(to_ask.items()):
            cause = self._idle_cause(lane)
            if cause is None or cause is span.cause:
                continue
            if span.cause is None:
                span.cause = cause
                del self._without_cause[lane]
            else:
                start = self._close(lane, at)
                self._open[lane] = self._idle[lane] = _OpenSpan(start, SpanKind.IDLE, cause=cause)

    def lane_stopped(self, lane: str, at: float) -> None:
        """End the lane's lifetime: it left, it was lost, or the run is over."""
        self._close(lane, at)
        del self._open[lane]
        self._ranks.pop(lane, None)

    def stop_all(self, at: float) -> None:
        for lane in self.lanes:
            self.lane_stopped(lane, at)

    def _open_span(self, lane: str) -> _OpenSpan:
        if lane not in self._open:
            raise ValueError(f"lane `{lane}` must be recorded, got an unknown one: call `lane_started` first")
        return self._open[lane]

    def _close(self, lane: str, at: float) -> float:
        """Emit the lane's open span and return where it ended.

        Lane clocks are mapped to the driver's to within milliseconds, so `at` may lie before the span's start: the span
        is then empty and not emitted, and the spans still tile the lifetime.
        """
        span = self._open_span(lane)
        self._idle.pop(lane, None)
        self._without_cause.pop(lane, None)
        end = max(at, span.start)
        # The lane was given work before `settle` asked for the cause, so it waited for nothing but that to reach it.
        has_no_cause = span.kind is SpanKind.IDLE and span.cause is None
        if end > span.start:
            self._emit(
                Span(
                    lane=lane,
                    rank=self._ranks.get(lane),
                    kind=span.kind,
                    start=span.start,
                    end=end,
                    cause=IdleCause.DISPATCH if has_no_cause else span.cause,
                    batch=span.work.batch,
                    group=span.work.group,
                    fragment=span.work.fragment,
                    policy_version=span.work.policy_version,
                    num_samples=span.work.num_samples,
                    num_units=span.work.num_units,
                    for_run=None if span.kind in _FOR_NO_RUN else self._run,
                )
            )
        return end
