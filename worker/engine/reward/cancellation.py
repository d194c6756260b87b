"""Ends a scorer's call that has exceeded its time-out, between two of its pictures or passes.

A scorer that calls `check_cancelled` in its loops gives its thread back soon; one that does not is waited for by the
call that repeats it.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")

_event: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


class ScoringCancelledError(Exception):
    """Nobody waits for the scores any more."""


@contextmanager
def cancellable(event: threading.Event) -> Iterator[None]:
    """Inside the block, in this thread, `check_cancelled` raises once `event` is set."""
    token = _event.set(event)
    try:
        yield
    finally:
        _event.reset(token)


def check_cancelled() -> None:
    """Raise `ScoringCancelledError` where the call was given up."""
    event = _event.get()
    if event is not None and event.is_set():
        raise ScoringCancelledError("the scores are waited for no longer")


def uncancelled(items: Iterable[Item]) -> Iterator[Item]:
    """The items, as long as the call is not given up; raises as `check_cancelled` between them."""
    for item in items:
        check_cancelled()
        yield item
