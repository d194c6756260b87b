"""Stop conditions of `up`: a signal, or the end of the `make` that started it."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from server.supervisor.process_spec import die_with_parent

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Raised in the main thread by the first stop signal. Later ones are ignored, because ending is bounded in time."""


@contextmanager
def stop_signals() -> Iterator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP into `StopRequested` within the block.

    SIGINT is set explicitly, because a shell starts background jobs with SIGINT ignored.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        for each in STOP_SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise StopRequested(signal.Signals(number).name)

    before = {number: signal.signal(number, stop) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_with_parent() -> None:
    """Have the kernel send SIGTERM here when the parent (make) ends, even by kill -9."""
    die_with_parent(signal.SIGTERM, os.getppid())
