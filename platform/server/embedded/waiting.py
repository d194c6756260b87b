"""Waiting for a server to answer, with a bound and a reason when it does not."""

import time
from collections.abc import Callable

from server.errors import CannotStartError


class NotReadyError(CannotStartError):
    """A server did not answer in time, or ended before it did."""


def wait_until(
    is_ready: Callable[[], bool], *, what: str, timeout_seconds: float, failure: Callable[[], str | None] = lambda: None
) -> None:
    """Poll `is_ready` until it returns True.

    `failure` is called between polls; a text that it returns ends the wait.

    Raises:
        NotReadyError: on a time-out, or with the text of `failure`.
    """
    deadline = time.monotonic() + timeout_seconds
    while not is_ready():
        if (reason := failure()) is not None:
            raise NotReadyError(f"{what} ended before it was ready: {reason}")
        if time.monotonic() > deadline:
            raise NotReadyError(f"{what} did not answer within {timeout_seconds:.0f} s")
        time.sleep(0.05)
