"""The actor calls under way; the driver waits for them here and nowhere else.

A call is one method on one lane, or on every lane of the gang. Its continuation `then` runs in the driver's main thread
once every lane has answered. When a lane dies, or the process of one of its further GPUs, its calls are dropped and
`on_lane_lost` is called; any other error of an actor ends the run and is raised here as the exception that the actor
raised. How long a call may take is not decided here: see `lane_watchdog`.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import ray
from ray import ObjectRef

from worker.contracts.lanes import LaneWork
from worker.engine.actors.reports import CallReport
from worker.engine.errors import EngineError, FollowerLostError, OpenGradientsLostError


class RewindNeededError(EngineError):
    """Training state is lost, so the run must go back to its last checkpoint."""


Reports = dict[str, CallReport[Any]]
"""The reports of one call, by lane."""


@dataclass(slots=True)
class _Call:
    work: LaneWork
    begun_at: float
    """The driver's monotonic clock."""
    then: Callable[[Reports], None]
    otherwise: Callable[[str], None] | None
    tolerated: type[Exception]
    waiting: set[str]
    """The lanes that have not answered."""
    reports: Reports = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenCall:
    """What a lane has not answered."""

    work: LaneWork
    begun_at: float
    """The driver's monotonic clock."""


class PendingCalls:
    """Awaits the reports of actor calls."""

    def __init__(
        self, *, on_report: Callable[[str, LaneWork, CallReport[Any]], None], on_lane_lost: Callable[[str, str], None]
    ) -> None:
        """
        Args:
            on_report: called as `on_report(lane, work, report)` for every report, before the call's continuation.
            on_lane_lost: called as `on_lane_lost(lane, reason)` once for every actor that died.
        """
        self._on_report = on_report
        self._on_lane_lost = on_lane_lost
        self._waiting: dict[ObjectRef, tuple[str, _Call]] = {}
        """By the reference of each report that has not arrived: its lane and its call."""
        self._of_no_lane: list[Callable[[Reports], None]] = []
        """The continuations of calls that no lane has to answer."""

    def __len__(self) -> int:
        """The number of reports awaited, and of calls that no lane has to answer."""
        return len(self._waiting) + len(self._of_no_lane)

    @property
    def busy_lanes(self) -> set[str]:
        """The lanes that have not answered a call."""
        return {lane for lane, _ in self._waiting.values()}

    @property
    def oldest(self) -> dict[str, OpenCall]:
        """By lane that has not answered a call, the first of those calls: a lane carries them out in order."""
        found = dict[str, OpenCall]()
        for lane, call in self._waiting.values():
            if lane not in found or call.begun_at < found[lane].begun_at:
                found[lane] = OpenCall(call.work, call.begun_at)
        return found

    def start(
        self,
        work: LaneWork,
        refs: Mapping[str, ObjectRef],
        then: Callable[[Reports], None],
        *,
        otherwise: Callable[[str], None] | None = None,
        tolerated: type[Exception] = Exception,
    ) -> None:
        """Await the reports of one call for `work`, whose references `refs` are by lane; `then` receives all of them,
        in the next `step` where there are none.

        `otherwise` is called in its place with the reason where a lane raises an error that must not end the run, once:
        one of the class `tolerated`. It is not called for a lane that dies.
        """
        if not refs:
            self._of_no_lane.append(then)
            return
        call = _Call(work, time.monotonic(), then, otherwise, tolerated, set(refs))
        self._waiting.update({ref: (lane, call) for lane, ref in refs.items()})

    def step(self, timeout_seconds: float) -> None:
        """Wait up to `timeout_seconds` for the first report, then handle every report that has arrived. Where calls
        were waiting for no lane, only those are handled, at once."""
        if self._of_no_lane:
            continuations, self._of_no_lane = self._of_no_lane, []
            for then in continuations:
                then({})
            return
        if not self._waiting:
            return
        ready, _ = ray.wait(list(self._waiting), num_returns=1, timeout=timeout_seconds, fetch_local=False)
        if ready:
            ready, _ = ray.wait(list(self._waiting), num_returns=len(self._waiting), timeout=0, fetch_local=False)
        for ref in ready:
            # Handling an earlier reference may have found the lane dead and dropped this call.
            if ref in self._waiting:
                self._finish(ref)

    def forget_lane(self, lane: str) -> None:
        """Drop every call that awaits `lane`, also for the other lanes of the call."""
        lost = [call for name, call in self._waiting.values() if name == lane]
        self._waiting = {ref: (name, call) for ref, (name, call) in self._waiting.items() if call not in lost}

    def forget_all(self) -> None:
        """Drop every call; reports that arrive later are ignored."""
        self._waiting.clear()
        self._of_no_lane.clear()

    def _finish(self, ref: ObjectRef) -> None:
        lane, call = self._waiting[ref]
        try:
            report = _fetch(ref)
        except ray.exceptions.RayActorError as error:
            self.forget_lane(lane)
            self._on_lane_lost(lane, str(error))
            return
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, FollowerLostError):
                self.forget_lane(lane)
                self._on_lane_lost(lane, str(error.cause))
                return
            if call.otherwise is None or not (error.cause is None or isinstance(error.cause, call.tolerated)):
                if isinstance(error.cause, OpenGradientsLostError):
                    raise RewindNeededError(str(error.cause)) from error
                raise
            self.forget_lane(lane)
            call.otherwise(_reason(error))
            return
        del self._waiting[ref]
        self._on_report(lane, call.work, report)
        call.reports[lane] = report
        call.waiting.discard(lane)
        if not call.waiting:
            call.then(call.reports)


def _reason(error: ray.exceptions.RayTaskError) -> str:
    """What the lane has said; the messages of the engine's own errors are sentences."""
    if error.cause is None or isinstance(error.cause, EngineError):
        return str(error.cause or error)
    return f"{type(error.cause).__name__}: {error.cause}"


def _fetch(ref: ObjectRef) -> CallReport[Any]:
    """A lane's report. Raises `RewindNeededError` when an argument of the call was lost together with its node."""
    try:
        report: CallReport[Any] = ray.get(ref)
        return report
    except ray.exceptions.ObjectLostError as error:
        raise RewindNeededError(f"an object was lost with its node: {error}") from error
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ray.exceptions.ObjectLostError):
            raise RewindNeededError(f"an object was lost with its node: {error.cause}") from error
        raise
