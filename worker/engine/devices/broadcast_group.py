"""A process group for broadcasts from one process to others that share no torch.distributed world with it.

It is made from the backend's own class, since `torch.distributed.new_group` takes members of one world only, and the
trainer's world must neither wait for a rollout lane nor fail with it. Invariant: no call waits longer than its limit;
after an error the group is of no use any more, and is left.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from worker.engine.errors import BroadcastError

FORMING_SECONDS = 30.0
"""How long the members may take to connect once all have said that they are there: connections take milliseconds, and
NCCL's first call on a node that never used it some seconds."""
POLL_SECONDS = 1e-3
"""How often a broadcast under way is looked at: the shortest take some milliseconds."""
_ERROR_HANDLING = "TORCH_NCCL_ASYNC_ERROR_HANDLING"


@dataclass(frozen=True, slots=True)
class Pending:
    """A broadcast under way."""

    work: Any
    """The backend's `Work`."""
    buffer: torch.Tensor
    deadline: float
    """The monotonic clock."""


class BroadcastGroup:
    """One member of a group: rank 0 sends, the others receive."""

    def __init__(self, store: dist.Store, rank: int, size: int, device: torch.device) -> None:
        """Join the group, for tensors on `device`; returns when all members have. Raises `BroadcastError` where they do
        not within `FORMING_SECONDS`."""
        self._device = device
        try:
            self._backend = _backend(store, rank, size, device)
        except RuntimeError as error:
            raise BroadcastError(f"the group of {size} could not be formed: {_first_line(error)}") from error

    def begin(self, buffer: torch.Tensor, limit_seconds: float) -> Pending:
        """Begin to broadcast `buffer`, a contiguous tensor; every member calls it with as many bytes, in one order."""
        options = dist.BroadcastOptions()
        options.rootRank, options.rootTensor = 0, 0
        options.timeout = timedelta(seconds=limit_seconds)
        try:
            work = self._backend.broadcast([buffer], options)
        except RuntimeError as error:
            raise BroadcastError(_first_line(error)) from error
        return Pending(work, buffer, time.monotonic() + limit_seconds)

    def finish(self, pending: Pending, reason_to_stop: Callable[[], str | None] = lambda: None) -> None:
        """Wait until this member's part of a broadcast is done; on an accelerator the current stream then waits for it.

        Raises:
            BroadcastError: when another member is lost, the limit has passed, or `reason_to_stop` gives a reason.
        """
        while not pending.work.is_completed():
            reason = reason_to_stop()
            if reason is None and time.monotonic() > pending.deadline:
                reason = "a member did not take part within the limit"
            if reason is not None:
                self._abandon(pending)
                raise BroadcastError(reason)
            time.sleep(POLL_SECONDS)
        try:
            pending.work.wait()
        except RuntimeError as error:
            raise BroadcastError(_first_line(error)) from error

    def _abandon(self, pending: Pending) -> None:
        """End a broadcast that does not go on."""
        if self._device.type != "cpu":
            # Ends the kernel that waits on the device.
            self._backend.abort()
            return
        # Gloo has no way to end it before its own limit. Until then its thread may write to the buffer.
        threading.Thread(target=_outlast, args=(self._backend, pending), daemon=True).start()

    def leave(self) -> None:
        """Give the group's connections up, without waiting for other members."""
        if self._device.type != "cpu":
            self._backend.abort()
        del self._backend


def _backend(store: dist.Store, rank: int, size: int, device: torch.device) -> Any:
    """The backend's class, with the limit of forming. Raises `BroadcastError` for a device without one."""
    limit = timedelta(seconds=FORMING_SECONDS)
    if device.type == "cpu":
        return dist.ProcessGroupGloo(store, rank, size, limit)
    if device.type != "cuda" or not dist.is_nccl_available():
        raise BroadcastError(f"nothing broadcasts between devices of type {device.type}: NCCL or gloo is needed")
    options = dist.ProcessGroupNCCL.Options()
    options._timeout = limit
    with _without_teardown():
        return dist.ProcessGroupNCCL(store, rank, size, options)


@contextmanager
def _without_teardown() -> Iterator[None]:
    """Groups made inside leave a collective that has failed to their caller. By default NCCL's watchdog ends the
    process, so that a lost rollout lane would end the trainer."""
    before = os.environ.get(_ERROR_HANDLING)
    os.environ[_ERROR_HANDLING] = "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_ERROR_HANDLING]
        else:
            os.environ[_ERROR_HANDLING] = before


def _outlast(backend: Any, pending: Pending) -> None:
    """Keep a group and its buffer until the broadcast under way has ended by its own limit."""
    while not pending.work.is_completed():
        time.sleep(1.0)
    del backend


def _first_line(error: RuntimeError) -> str:
    return str(error).partition("\n")[0]
