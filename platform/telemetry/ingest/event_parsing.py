"""From the JSON of an ingest batch to numbered, validated events. Pure: no database.

Invariant: what leaves here is contiguous from the attempt's high-water mark, and every event fits its contract.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from telemetry.ingest.ingest_errors import InvalidEvent, SequenceGap
from telemetry.ingest.stored_text import without_nul
from worker.contracts.checkpoint_names import batch_number, checkpoint_name
from worker.contracts.events import CheckpointEvent, GroupsEvent, RunEvent, run_event_adapter
from worker.contracts.ingest import IngestBatch
from worker.contracts.shown_values import cut


def parse_batch(raw: bytes) -> IngestBatch:
    """Raises `InvalidEvent` when the body is not an `IngestBatch`."""
    try:
        return IngestBatch.model_validate_json(without_nul(raw))
    except ValidationError as error:
        raise InvalidEvent(None, _location(error), _message(error)) from error


def parse_events(events: Sequence[dict[str, Any]]) -> list[RunEvent]:
    """Validate each event; the first that does not fit refuses them all.

    Raises:
        InvalidEvent: naming the event's `seq`, the field and what was wrong.
    """
    parsed: list[RunEvent] = []
    for event in events:
        try:
            parsed.append(run_event_adapter.validate_python(event))
        except ValidationError as error:
            seq, field = event.get("seq"), _location(error, event.get("type"))
            raise InvalidEvent(seq if isinstance(seq, int) else None, field, _message(error)) from error
    return parsed


def check_checkpoints(events: Sequence[RunEvent], folder: str) -> None:
    """Refuse checkpoints that lie anywhere but directly below `folder`, the attempt's own: the web lists, holds and
    removes what such an event names, in any store that an URI can reach.

    Raises:
        InvalidEvent: naming the event.
    """
    for event in events:
        if isinstance(event, CheckpointEvent):
            place, _, name = event.uri.rpartition("/")
            if place != folder or batch_number(name) is None:
                said = f"must be `{folder}/{checkpoint_name(event.batch)}`, got `{cut(event.uri)}`"
                raise InvalidEvent(event.seq, "uri", said)


def check_prompts(events: Sequence[RunEvent], num_prompts: int) -> None:
    """Refuse groups of prompts that the run has not.

    Raises:
        InvalidEvent: naming the event.
    """
    for event in events:
        for place, group in enumerate(event.groups if isinstance(event, GroupsEvent) else ()):
            if group.prompt_index >= num_prompts:
                said = f"must be < {num_prompts}, the number of the run's prompts, got {group.prompt_index}"
                raise InvalidEvent(event.seq, f"groups.{place}.prompt_index", said)


def fresh_events(events: Sequence[RunEvent], high_water: int) -> list[RunEvent]:
    """The events above `high_water`; repeats are dropped.

    Raises:
        SequenceGap: naming the number expected, when one is missing.
    """
    fresh: list[RunEvent] = []
    for event in events:
        if event.seq <= high_water:
            continue
        expected = high_water + len(fresh) + 1
        if event.seq != expected:
            raise SequenceGap(expected, event.seq)
        fresh.append(event)
    return fresh


def _location(error: ValidationError, *tag: object) -> str:
    """The first error's field as a dotted path; the event union puts the event's `tag` before it."""
    parts = error.errors()[0]["loc"]
    return ".".join(str(part) for part in parts[len(tag) if parts[: len(tag)] == tag else 0 :]) or "event"


def _message(error: ValidationError) -> str:
    return str(error.errors()[0]["msg"])
