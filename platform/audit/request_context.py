"""Which request asked for what is being done: its id and its API token, known to everything below it.

Set by the middleware for a request and by Celery for a task that a request enqueued; empty elsewhere.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

TASK_HEADER = "tandem_request"
"""Under which a Celery message carries the request that enqueued it."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    request_id: str = ""
    token_key: str = ""
    """First characters of the API token; empty for a session."""

    def headers(self) -> dict[str, dict[str, str]]:
        """For a Celery message."""
        return {TASK_HEADER: asdict(self)}

    @classmethod
    def from_headers(cls, headers: Mapping[str, Any]) -> Self:
        """Of the task that runs; empty where no request enqueued it."""
        return cls(**headers.get(TASK_HEADER, {}))


NO_REQUEST = RequestContext()
_current: ContextVar[RequestContext] = ContextVar("request_context", default=NO_REQUEST)


def current_request() -> RequestContext:
    return _current.get()


def note_token(token_key: str) -> None:
    """The request under way has authenticated by this API token."""
    _current.set(replace(_current.get(), token_key=token_key))


def adopt(context: RequestContext) -> None:
    """What this thread does from now on is done for this request: for Celery, which says so before each task."""
    _current.set(context)


@contextmanager
def request_context(context: RequestContext) -> Iterator[None]:
    """What runs within is done for this request."""
    before = _current.set(context)
    try:
        yield
    finally:
        _current.reset(before)


class RequestIdFilter(logging.Filter):
    """Gives each log record the id of the request that it belongs to, `-` where there is none."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request().request_id or "-"
        return True
