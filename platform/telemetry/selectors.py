"""Reads of a run's stream: its items, its lanes. Callers check permission.

Invariant: everything is read up to one `stream_seq`, so a page can continue from that number over the socket without
missing or repeating items.
"""

from collections.abc import Callable, Collection, Iterable
from uuid import UUID

from django.db.models import Q, QuerySet

from runs.models import CLOCK, COMMAND, RunLogEntry, RunStream, RunTransition
from runs.run_body import command_item, transition_item
from telemetry.models import StreamItem
from telemetry.observed_lanes import Lane
from telemetry.stream_items import LOG, TRANSITION, Item, item
from telemetry.unreadable import readable

NUM_TRIED = 100
"""Reports that are looked through for one that can be read."""


def last_stream_seq(run_id: UUID) -> int:
    """The run's newest committed number; 0 before its first."""
    return RunStream.objects.filter(run_id=run_id).values_list("last_stream_seq", flat=True).first() or 0


def stream_items(run_id: UUID, *, after_seq: int, limit: int, types: Collection[str] = ()) -> list[Item]:
    """At most `limit` items above `after_seq`, ascending: events, transitions, commands; of all types when `types` is
    empty."""
    events, transitions, entries = _rows_of(types)
    after = Q(run_id=run_id, stream_seq__gt=after_seq)
    return _merged(
        events.filter(after).order_by("stream_seq")[:limit],
        transitions.filter(after).order_by("stream_seq")[:limit],
        entries.filter(after).order_by("stream_seq")[:limit],
    )[:limit]


def newest_items(run_id: UUID, *, before_seq: int | None, limit: int, types: Collection[str] = ()) -> list[Item]:
    """The newest `limit` items (below `before_seq`), ascending."""
    events, transitions, entries = _rows_of(types)
    before = Q(run_id=run_id)
    if before_seq is not None:
        before &= Q(stream_seq__lt=before_seq)
    return _merged(
        events.filter(before).order_by("-stream_seq")[:limit],
        transitions.filter(before).order_by("-stream_seq")[:limit],
        entries.filter(before).order_by("-stream_seq")[:limit],
    )[-limit:]


def lanes_of(run_id: UUID) -> list[Lane]:
    """The lanes of the newest `lanes` event; empty before they were placed."""
    reports = StreamItem.objects.filter(run_id=run_id, type="lanes").order_by("-stream_seq")
    newest = next(readable(reports[:NUM_TRIED]), None)
    return list(newest.body["lanes"]) if newest else []


def _rows_of(types: Collection[str]) -> tuple[QuerySet[StreamItem], QuerySet[RunTransition], QuerySet[RunLogEntry]]:
    """The rows of any run that items are made of: events, transitions, entries of the log; of these `types` where there
    are any."""
    events, transitions = StreamItem.objects.filter(at__range=CLOCK), RunTransition.objects.all()
    if types:
        events = events.filter(type__in=types)
        transitions = transitions if TRANSITION in types else transitions.none()
    entries = RunLogEntry.objects.filter(at__range=CLOCK, type__in=_ENTRY_ITEMS.keys() & (types or _ENTRY_ITEMS.keys()))
    return events, transitions, entries


def _merged(
    events: Iterable[StreamItem], transitions: Iterable[RunTransition], entries: Iterable[RunLogEntry]
) -> list[Item]:
    items: list[Item] = [
        *map(_event_item, events),
        *({**transition_item(one)} for one in transitions),
        *(_ENTRY_ITEMS[one.type](one) for one in entries),
    ]
    return sorted(items, key=lambda item: item["stream_seq"])


def _event_item(row: StreamItem) -> Item:
    return item(stream_seq=row.stream_seq, type=row.type, at=row.at, attempt=row.attempt, body=row.body)


def _log_item(entry: RunLogEntry) -> Item:
    body = {"level": entry.level, "source": entry.source, "message": entry.text}
    return item(stream_seq=entry.stream_seq, type=LOG, at=entry.at, attempt=entry.attempt, body=body)


_ENTRY_ITEMS: dict[str, Callable[[RunLogEntry], Item]] = {
    COMMAND: lambda entry: {**command_item(entry)},
    LOG: _log_item,
}
"""What an entry of the log is as an item, by its type: of other types the items have rows of their own."""
