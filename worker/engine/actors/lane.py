"""What every lane's actor shares: device visibility, place, clock and captured log lines.

Invariant: the environment is set before torch is first imported, so the lane sees its own device and no other, and as
many threads as it was given. So engine modules are imported inside `load`, never at the top of an actor's module.
"""

import logging
import os
import socket
import sys
import time
from typing import ClassVar, TypeVar

from worker.engine.actors.reports import CallReport, LanePlace
from worker.engine.telemetry.logs import BufferingHandler

T = TypeVar("T")

VISIBILITY_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
"""What hides the other devices of a node. Ray empties them for actors that ask Ray for no GPU, as ours do."""


def see_only(device: str) -> None:
    """Show this process one device: `cpu`, or the accelerator's index on its node. Call it before torch is imported."""
    is_cpu = device == "cpu"
    os.environ["OMP_NUM_THREADS"] = "1"
    for variable in VISIBILITY_VARIABLES:
        os.environ[variable] = "" if is_cpu else device
    if is_cpu:
        os.environ["DS_ACCELERATOR"] = "cpu"


def check_device(name: str, device: str) -> None:
    """Raises `RuntimeError` when torch, once loaded, finds no accelerator where one was granted to `name`."""
    torch = sys.modules.get("torch")
    if device != "cpu" and torch is not None and not torch.accelerator.is_available():
        raise RuntimeError(
            f"{name} was granted an accelerator but torch finds none: check the node's drivers, or cordon the node"
        )


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
