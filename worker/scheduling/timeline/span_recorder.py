"""Turns what lanes report into spans that tile each lane's life without gap or overlap.

The executor tells when work began and ended, in seconds of the driver's clock; whatever lies between is idle, and the
scheduler names its cause. One turn of an executor's loop:

    recorder.ended(lane, at)         what the lane did is a span; from here on it idles, cause not known yet
    scheduler.apply(event)
    scheduler.next_actions()  ──►    recorder.began(lane, kind, at)    the idle stretch before is a span
    recorder.settle(at)              lanes still idle take their cause; a changed cause cuts the stretch

Invariant: a lane's spans are in order, each starts where the last one ended, and idle spans always have a cause.
"""

from collections.abc import Callable
from dataclasses import dataclass

from worker.contracts.spans import IdleCause, Span, SpanKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a span is about, as far as it is known."""

    batch: int | None = None
    group: int | None = None
    fragment: int | None = None
    policy_version: int | None = None
    num_samples: int = 0


_NOTHING = Work()


@dataclass(slots=True)
class _Open:
    """The stretch of a lane's time that has begun and not ended."""

    start: float
    kind: SpanKind
    work: Work = _NOTHING
    cause: IdleCause | None = None


class SpanRecorder:
    """Holds one open stretch for each lane and hands every closed one to `emit`.

    `idle_cause` tells why a lane has nothing to do, and `None` for a lane that has been given work not yet reported as
    begun: that is `Scheduler.idle_cause`. `idle_state` is a value that stays the same for as long as no lane's cause
    changes, so that thousands of idle lanes need not be asked in vain: `Scheduler.idle_state`.
    """

    def __init__(
        self,
        emit: Callable[[Span], None],
        idle_cause: Callable[[str], IdleCause | None],
        idle_state: Callable[[], object] = object,
    ) -> None:
        self._emit = emit
        self._idle_cause = idle_cause
        self._idle_state = idle_state
        self._last_idle_state: object = None
        self._open: dict[str, _Open] = {}
        self._idle: dict[str, _Open] = {}
        self._without_cause: dict[str, _Open] = {}

    @property
    def lanes(self) -> tuple[str, ...]:
        """Lanes whose life is being recorded."""
        return tuple(self._open)

    def lane_started(self, lane: str, at: float) -> None:
        """The lane's life begins, with starting up."""
        if lane in self._open:
            raise ValueError(f"lane `{lane}` must be stopped before it starts again: its spans would overlap")
        self._open[lane] = self._idle[lane] = _Open(at, SpanKind.IDLE, cause=IdleCause.START_UP)

    def began(self, lane: str, kind: SpanKind, at: float, work: Work = _NOTHING) -> None:
        """The lane turns to `kind`, from idling or straight from something else. Idling is begun by `ended` alone."""
        if kind is SpanKind.IDLE:
            raise ValueError("`kind` must be work, got `idle`: call `ended`, the scheduler names the cause")
        start = self._close(lane, at)
        self._open[lane] = _Open(start, kind, work)

    def ended(self, lane: str, at: float) -> None:
        """The lane has nothing to do from `at` on; why, the next `settle` finds out."""
        if self._stretch(lane).kind is SpanKind.IDLE:
            raise ValueError(f"lane `{lane}` is idle, so nothing of it can end: call `began` first")
        stretch = _Open(self._close(lane, at), SpanKind.IDLE)
        self._open[lane] = self._idle[lane] = self._without_cause[lane] = stretch

    def settle(self, at: float) -> None:
        """Give every idle lane its present cause; where the cause changed, a new stretch begins at `at`."""
        state = self._idle_state()
        asked = self._without_cause if state == self._last_idle_state else self._idle
        self._last_idle_state = state
        for lane, stretch in list(asked.items()):
            cause = self._idle_cause(lane)
            if cause is None or cause is stretch.cause:
                continue
            if stretch.cause is None:
                stretch.cause = cause
                del self._without_cause[lane]
            else:
                start = self._close(lane, at)
                self._open[lane] = self._idle[lane] = _Open(start, SpanKind.IDLE, cause=cause)

    def lane_stopped(self, lane: str, at: float) -> None:
        """The lane's life ends: it left, it was lost, or the run is over."""
        self._close(lane, at)
        del self._open[lane]

    def stop_all(self, at: float) -> None:
        for lane in self.lanes:
            self.lane_stopped(lane, at)

    def _stretch(self, lane: str) -> _Open:
        if lane not in self._open:
            raise ValueError(f"lane `{lane}` is not recorded: call `lane_started` first")
        return self._open[lane]

    def _close(self, lane: str, at: float) -> float:
        """Emit the open stretch and return where it ended.

        Lane clocks are mapped to the driver's to within milliseconds, so a time may lie before the stretch's start: the
        stretch is then empty, and the tiling holds.
        """
        stretch = self._stretch(lane)
        self._idle.pop(lane, None)
        self._without_cause.pop(lane, None)
        end = max(at, stretch.start)
        # Handed work before anybody asked why it idled: it waited for its next fragment to arrive.
        no_cause_yet = stretch.kind is SpanKind.IDLE and stretch.cause is None
        if end > stretch.start:
            self._emit(
                Span(
                    lane=lane,
                    kind=stretch.kind,
                    start=stretch.start,
                    end=end,
                    cause=IdleCause.NO_FRAGMENT_READY if no_cause_yet else stretch.cause,
                    batch=stretch.work.batch,
                    group=stretch.work.group,
                    fragment=stretch.work.fragment,
                    policy_version=stretch.work.policy_version,
                    num_samples=stretch.work.num_samples,
                )
            )
        return end
