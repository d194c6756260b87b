"""The request behind the current work: its id and its API token, in a context variable.

Set by the middleware for a request and by Celery for a task that a request enqueued; empty elsewhere.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

TASK_HEADER = "tandem_request"
"""The header of a Celery message that holds the request which enqueued it."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A request, as audit rows and log lines name it."""

    request_id: str = ""
    token_key: str = ""
    """First characters of the API token; empty for a session."""
    traceparent: str = ""
    """W3C's, of the span that the work belongs to; empty without traces."""

    @property
    def trace_id(self) -> str:
        return self.traceparent.split("-")[1] if self.traceparent else ""

    def headers(self) -> dict[str, dict[str, str]]:
        """The headers of a Celery message enqueued by this request."""
        return {TASK_HEADER: asdict(self)}

    @classmethod
    def from_headers(cls, headers: Mapping[str, Any]) -> Self:
        """The request that enqueued the running task; empty if none did."""
        return cls(**headers.get(TASK_HEADER, {}))


NO_REQUEST = RequestContext()
_current: ContextVar[RequestContext] = ContextVar("request_context", default=NO_REQUEST)


def current_request() -> RequestContext:
    return _current.get()


def note_token(token_key: str) -> None:
    """Record the API token by which the current request has authenticated."""
    _current.set(replace(_current.get(), token_key=token_key))


def adopt(context: RequestContext) -> None:
    """Set the request for all further work of this thread. Celery calls it before each task."""
    _current.set(context)


@contextmanager
def request_context(context: RequestContext) -> Iterator[None]:
    """Set the request for the work within the block."""
    before = _current.set(context)
    try:
        yield
    finally:
        _current.reset(before)


class RequestIdFilter(logging.Filter):
    """Gives each log record the id of the current request and that of its trace, or `-`."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request().request_id or "-"
        record.trace_id = current_request().trace_id or "-"
        return True
