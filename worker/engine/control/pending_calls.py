"""The actor calls under way, and the one place that waits for them.

A call is one method on one lane, or on a whole gang. `then` runs in the driver's only thread once every lane of it
has answered. A lane's death is told to `on_lane_lost` and takes its calls with it; any other error of an actor ends
the run and surfaces here as the exception that the actor raised.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import ray
from ray import ObjectRef

from worker.engine.actors.reports import CallReport
from worker.engine.errors import EngineError


class RewindNeededError(EngineError):
    """Work is lost that only a checkpoint can bring back."""


Reports = dict[str, CallReport[Any]]
"""The answers of a call by lane."""


@dataclass(slots=True)
class _Call:
    then: Callable[[Reports], None]
    waiting: set[str]
    reports: Reports = field(default_factory=dict)


class PendingCalls:
    """Tracks calls by the reference of each lane's report."""

    def __init__(
        self, *, on_report: Callable[[str, CallReport[Any]], None], on_lane_lost: Callable[[str, str], None]
    ) -> None:
        """`on_report(lane, report)` sees every answer; `on_lane_lost(lane, reason)` every death, once."""
        self._on_report = on_report
        self._on_lane_lost = on_lane_lost
        self._waiting: dict[ObjectRef, tuple[str, _Call]] = {}

    def __len__(self) -> int:
        """Reports awaited."""
        return len(self._waiting)

    @property
    def busy_lanes(self) -> set[str]:
        return {lane for lane, _ in self._waiting.values()}

    def start(self, refs: Mapping[str, ObjectRef], then: Callable[[Reports], None]) -> None:
        """Await the reports of one call, `refs` by lane; `then` gets them all together."""
        call = _Call(then, set(refs))
        self._waiting.update({ref: (lane, call) for lane, ref in refs.items()})

    def step(self, timeout_seconds: float) -> None:
        """Wait up to `timeout_seconds` for the first answer, then handle every answer there is."""
        if not self._waiting:
            return
        ready, _ = ray.wait(list(self._waiting), num_returns=1, timeout=timeout_seconds, fetch_local=False)
        if ready:
            ready, _ = ray.wait(list(self._waiting), num_returns=len(self._waiting), timeout=0, fetch_local=False)
        for ref in ready:
            # An earlier answer of this round may have lost the lane, and this call with it.
            if ref in self._waiting:
                self._finish(ref)

    def forget_lane(self, lane: str) -> None:
        """Drop every call that still awaits `lane`."""
        lost = [call for name, call in self._waiting.values() if name == lane]
        self._waiting = {ref: (name, call) for ref, (name, call) in self._waiting.items() if call not in lost}

    def forget_all(self) -> None:
        self._waiting.clear()

    def _finish(self, ref: ObjectRef) -> None:
        lane, call = self._waiting.pop(ref)
        try:
            report = _answer(ref)
        except ray.exceptions.RayActorError as error:
            self.forget_lane(lane)
            self._on_lane_lost(lane, str(error))
            return
        self._on_report(lane, report)
        call.reports[lane] = report
        call.waiting.discard(lane)
        if not call.waiting:
            call.then(call.reports)


def _answer(ref: ObjectRef) -> CallReport[Any]:
    """A lane's report. Raises `RewindNeededError` when a value it worked on was lost together with its node."""
    try:
        report: CallReport[Any] = ray.get(ref)
        return report
    except ray.exceptions.ObjectLostError as error:
        raise RewindNeededError(f"an object was lost with its node: {error}") from error
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ray.exceptions.ObjectLostError):
            raise RewindNeededError(f"an object was lost with its node: {error.cause}") from error
        raise
