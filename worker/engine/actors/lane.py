"""What every lane's actor shares: device visibility, place, clock and captured log lines.

Invariant: the environment is set before torch is first imported, so the lane sees its own device and no other, and as
many threads as it was given. So engine modules are imported inside `load`, never at the top of an actor's module.
"""

import logging
import os
import socket
import time
from typing import ClassVar, TypeVar

from worker.engine.actors.reports import CallReport, LanePlace
from worker.engine.devices.visibility import check_device, see_only
from worker.engine.telemetry.log_forwarding import BufferingHandler

T = TypeVar("T")


class LaneActor:
    """`device` is the grant's, as in `see_only`."""

    concurrency_groups: ClassVar[dict[str, int]] = {}
    """Ray's: threads beside the one that calls go through in order, by name."""

    def __init__(self, lane: str, device: str) -> None:
        self.lane = lane
        self._device = device
        see_only(device)
        self._logs = BufferingHandler()
        logger = logging.getLogger("worker")
        logger.setLevel(logging.INFO)
        logger.addHandler(self._logs)

    def place(self) -> CallReport[LanePlace]:
        """Answers as soon as the process is up."""
        start = time.monotonic()
        return self._report(start, LanePlace(node=socket.gethostname(), pid=os.getpid()))

    def clock(self) -> float:
        """The lane's monotonic clock, in seconds."""
        return time.monotonic()

    def _check_device(self) -> None:
        """Raises `RuntimeError` as `check_device` does."""
        check_device(f"lane `{self.lane}`", self._device)

    def _report(self, start: float, value: T) -> CallReport[T]:
        return CallReport(start=start, end=time.monotonic(), value=value, logs=self._logs.take())
