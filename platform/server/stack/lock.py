"""One `up` for each data folder, by a kernel lock that is released with its last holder, so it is never stale.

The supervisor inherits the descriptor, so the folder stays locked until the last process of the stack is gone.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from server.errors import CannotStartError

ENDING_SECONDS = 12.0
"""How long the processes of a killed `up` may take to end, in seconds."""


@contextmanager
def folder_lock(var: Path, ending_seconds: float = ENDING_SECONDS) -> Iterator[int]:
    """Lock `var` for this process; yields the descriptor of the lock.

    Raises:
        CannotStartError: another `up` holds it. The processes of a killed one are waited for.
    """
    descriptor = os.open(var / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(descriptor, var, ending_seconds)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _take(descriptor: int, var: Path, ending_seconds: float) -> None:
    deadline = time.monotonic() + ending_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            holder = int(os.pread(descriptor, 20, 0) or b"0")
            if psutil.pid_exists(holder) or time.monotonic() > deadline:
                raise CannotStartError(
                    f"Another `up` (process {holder}) runs on {var}. Use that one, end it with `kill {holder}`, or set"
                    f" TANDEM_VAR and TANDEM_PORT for a second stack."
                ) from None
        time.sleep(0.2)
