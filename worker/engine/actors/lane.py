"""The base of every lane's actor: device visibility, location, clock and captured log lines.

Invariant: the environment is set before torch is first imported, so that the lane sees its own device and no other, and
uses as many threads as it was granted. That is why engine modules are imported inside `load`, never at the top of an
actor's module.
"""

import gc
import logging
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, TypeVar

import ray

from worker.engine.actors.reports import CallProgress, CallReport, LaneLocation, OpenCollective, SurvivingLane
from worker.engine.attendance import Attendance
from worker.engine.devices.visibility import check_device, see_only, visible_uuids
from worker.engine.load_keys import uploaded_code
from worker.engine.shortage_notes import take_shortages
from worker.engine.step_count import num_steps
from worker.engine.telemetry.log_forwarding import BufferingHandler
from worker.engine.unwanted_imports import without_unwanted_imports

T = TypeVar("T")

WATCHING = "watching"
"""The concurrency group of the thread that answers while the others work."""
MAX_STACK = 6
"""Innermost calls of a stack that is reported: from the engine's method into what it waits for."""


class LaneActor:
    """An actor whose methods return a `CallReport`, or a tuple that begins with one."""

    concurrency_groups: ClassVar[dict[str, int]] = {WATCHING: 1}
    """Ray's concurrency groups: by name, the number of threads beside the default one, which runs calls in order."""

    def __init__(self, lane: str, device: str, is_kept: bool = False) -> None:
        """Restrict this process to `device`, which is the grant's, as in `see_only`. `is_kept`: it outlives a driver
        that is lost, for a while."""
        self.lane = lane
        self._attendance = Attendance() if is_kept else None
        self._loaded_as = ""
        """The key of what was loaded, as `load_key`; empty before that."""
        self._device = device
        see_only(device)
        self._logs = BufferingHandler()
        logger = logging.getLogger("worker")
        logger.setLevel(logging.INFO)
        logger.addHandler(self._logs)

    def location(self) -> CallReport[LaneLocation]:
        """The lane's host and process; answered as soon as the process is up."""
        start = time.monotonic()
        node_id = ray.get_runtime_context().get_node_id()
        return self._report(start, LaneLocation(node=socket.gethostname(), node_id=node_id, pid=os.getpid()))

    def uuids(self) -> CallReport[tuple[str, ...]]:
        """The UUIDs of the accelerators that this process sees; asked for behind `load`, which calls are answered after
        in order."""
        start = time.monotonic()
        return self._report(start, visible_uuids())

    def clock(self) -> float:
        """A reading of the lane's monotonic clock, in seconds."""
        return time.monotonic()

    @ray.method(concurrency_group=WATCHING)
    def progress(self) -> CallProgress:
        """How far the lane is, answered while it works."""
        return CallProgress(num_steps=num_steps(), stack=working_stack())

    @ray.method(concurrency_group=WATCHING)
    def open_collectives(self) -> tuple[OpenCollective, ...]:
        """The collectives that this process waits in; empty where it has joined no group."""
        # Joining one imports the module. Importing it here could wait for the thread that works.
        module = sys.modules.get("worker.engine.devices.flight_recorder")
        found: tuple[OpenCollective, ...] = () if module is None else module.open_collectives()
        return found

    @ray.method(concurrency_group=WATCHING)
    def collectives_by_gpu(self) -> dict[int, tuple[OpenCollective, ...] | None]:
        """The collectives that each process of the lane waits in, by the number of its GPU in the lane; `None` for one
        that does not tell. This one is GPU 0."""
        return {0: self.open_collectives()}

    @ray.method(concurrency_group=WATCHING)
    def attend(self) -> None:
        """Called every few seconds as long as a driver counts on this lane."""
        if self._attendance is not None:
            self._attendance.attend()

    @ray.method(concurrency_group=WATCHING)
    def survey(self) -> SurvivingLane:
        """What the driver of a later attempt has to know before it goes on with this lane."""
        self.attend()
        context = ray.get_runtime_context()
        return SurvivingLane(
            node_id=context.get_node_id(),
            device=self._device,
            code=uploaded_code(),
            loaded_as=self._loaded_as,
            is_idle=not working_stack(),
        )

    @contextmanager
    def _loading(self) -> Iterator[None]:
        """Import and load without garbage collections, which are a fifth of the CPU time of importing torch, diffusers
        and peft, and leave what was loaded out of all later ones: it lives as long as the process. Nor with what
        libraries import unasked. Afterwards check the device, which raises `RuntimeError` as `check_device` does."""
        gc.disable()
        try:
            with without_unwanted_imports():
                yield
            check_device(f"lane `{self.lane}`", self._device)
        finally:
            gc.collect()
            gc.freeze()
            gc.enable()

    def _report(self, start: float, value: T) -> CallReport[T]:
        """The report of a call that began at `start` and ends now, with the log records and shortages since the last
        report."""
        end = time.monotonic()
        return CallReport(start=start, end=end, value=value, logs=self._logs.take(), shortages=take_shortages())


def working_stack() -> tuple[str, ...]:
    """The innermost calls of the thread of this process that carries out an actor's method; empty where none does."""
    actors = str(Path(__file__).parent)
    for thread, frame in sys._current_frames().items():
        calls = traceback.extract_stack(frame)
        if thread != threading.get_ident() and any(call.filename.startswith(actors) for call in calls):
            return tuple(f"{call.name} ({Path(call.filename).name}:{call.lineno})" for call in calls[-MAX_STACK:])
    return ()
