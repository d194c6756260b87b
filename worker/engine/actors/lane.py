"""What every lane's actor shares: device visibility, place, clock and captured log lines.

Invariant: the environment is set before torch is first imported, so the lane sees its own device and no other, and as
many threads as it was given. So engine modules are imported inside `load`, never at the top of an actor's module.
"""

import logging
import os
import socket
import sys
import time
from typing import TypeVar

from worker.engine.actors.reports import CallReport, LanePlace
from worker.engine.telemetry.logs import BufferingHandler

T = TypeVar("T")

VISIBILITY_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
"""What hides the other devices of a node. Ray empties them for actors that ask Ray for no GPU, as ours do."""


class LaneActor:
    """`device` is the grant's: `cpu`, or the accelerator's index on its node."""

    def __init__(self, lane: str, device: str) -> None:
        self.lane = lane
        self._is_cpu = device == "cpu"
        os.environ["OMP_NUM_THREADS"] = "1"
        for variable in VISIBILITY_VARIABLES:
            os.environ[variable] = "" if self._is_cpu else device
        if self._is_cpu:
            os.environ["DS_ACCELERATOR"] = "cpu"
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
        """Raises `RuntimeError` when torch, once loaded, finds no accelerator where one was granted."""
        torch = sys.modules.get("torch")
        if not self._is_cpu and torch is not None and not torch.accelerator.is_available():
            raise RuntimeError(
                f"lane `{self.lane}` was granted an accelerator but torch finds none: "
                "check the node's drivers, or cordon the node"
            )

    def _report(self, start: float, value: T) -> CallReport[T]:
        return CallReport(start=start, end=time.monotonic(), value=value, logs=self._logs.take())
