"""Registry of handlers by type of event, called in stream order, for apps above telemetry that store rows of events.

Apps (gallery) register theirs when Django starts, so telemetry imports none of them. Handlers run in the ingest's
transaction, under the lock of the run's stream: they only use the database, and an exception refuses the whole batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from worker.contracts.events import RunEvent


@dataclass(frozen=True, slots=True)
class EventContext:
    run_id: UUID
    attempt: int
    stream_seq: int


Handler = Callable[[EventContext, Any], None]
"""The second argument is the event of the type it is registered for."""

_handlers: dict[str, list[Handler]] = {}


def register(event_type: str, handler: Handler) -> None:
    """Call `handler` for each event of `event_type`. Registering the same one twice has no effect."""
    known = _handlers.setdefault(event_type, [])
    if handler not in known:
        known.append(handler)


def handle(context: EventContext, event: RunEvent) -> None:
    for handler in _handlers.get(event.type, ()):
        handler(context, event)
