"""The items of a run's stream, as REST and the socket send them: an event of the driver, or what the web adds, a
transition or a command.

An item is `{stream_seq, type, at, attempt, body}`, where `body` holds the event's own fields. Invariant: items are the
same whether stored, sent live or replayed, so a reader can drop repeats by their `stream_seq`.
"""

from typing import Annotated, Any, Literal, Union, cast

from pydantic import BaseModel, ConfigDict, Field, create_model

from runs.models import COMMAND
from runs.run_body import CommandItem, TransitionItem
from worker.contracts.any_event import Event
from worker.contracts.base import Count, Index
from worker.contracts.events import RunEvent

TRANSITION = "transition"
"""Type of the items that the web adds for a change of the run's state."""

LOG = "log"
"""Type of the engine's log records."""

EVENT_KINDS: tuple[type[Event], ...] = tuple(Event.__subclasses__())
EVENT_TYPES = frozenset(str(kind.model_fields["type"].default) for kind in EVENT_KINDS)
ITEM_TYPES = EVENT_TYPES | {TRANSITION, COMMAND}
"""Every type of item."""

BULK_TYPES = frozenset({"metrics", "spans", "queues", "staleness", "groups", "lend", "costs", "log"})
"""Types that are too frequent to be read as events; their content has endpoints of its own."""

ENVELOPE = frozenset({*Event.model_fields, "type"})
"""Fields of an event that are not in its item's `body`: the item has them beside it, except `seq`."""

Item = dict[str, Any]
"""One item as plain JSON."""


def event_body(event: RunEvent) -> dict[str, Any]:
    """The event's fields without its number, time and type, as stored and shown."""
    return event.model_dump(mode="json", exclude=set(ENVELOPE))


def item(*, stream_seq: int, type: str, at: float, attempt: int, body: dict[str, Any]) -> Item:
    """The item of one event."""
    return {"stream_seq": stream_seq, "type": type, "at": at, "attempt": attempt, "body": body}


def _item_model(kind: type[Event]) -> type[BaseModel]:
    """The item of one type of event, for the schema."""
    name, type_name = kind.__name__.removesuffix("Event"), kind.model_fields["type"].default
    fields: dict[str, Any] = {
        field: (info.annotation, info) for field, info in kind.model_fields.items() if field not in ENVELOPE
    }
    envelope: dict[str, Any] = {
        "stream_seq": (Count, Field(description="The item's number in the run's stream.")),
        "type": (Literal[type_name], ...),
        "at": (float, Field(description="Unix time in seconds, by the driver's clock.")),
        "attempt": (Index, ...),
        "body": (create_model(f"{name}Fields", __config__=_STRICT, __doc__=kind.__doc__, **fields), ...),
    }
    return create_model(f"{name}Item", __config__=_STRICT, __doc__=f"A `{type_name}` event in the stream.", **envelope)


_STRICT = ConfigDict(extra="forbid")
_MODELS = {kind: _item_model(kind) for kind in EVENT_KINDS}


def body_model(type_name: str) -> type[BaseModel] | None:
    """What the bodies of this type of event are; None for an unknown one."""
    kind = next((kind for kind in EVENT_KINDS if kind.model_fields["type"].default == type_name), None)
    return None if kind is None else cast(type[BaseModel], _MODELS[kind].model_fields["body"].annotation)


StreamItem: Any = Annotated[Union[(*_MODELS.values(), TransitionItem, CommandItem)], Field(discriminator="type")]
"""The union of all items for the schema, distinguished by `type`."""
