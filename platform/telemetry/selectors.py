"""Reads of a run's stream: its items, its lanes, the driver's log. Callers check permission.

Invariant: everything is read up to one `stream_seq`, so a page can continue from that number over the socket without
missing or repeating items.
"""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import QuerySet

from runs.models import RunStream, RunTransition
from runs.run_body import transition_item
from telemetry.models import StreamItem
from telemetry.observed_lanes import Lane
from telemetry.stream_items import TRANSITION, Item, item

LOG_LEVELS = ("debug", "info", "warning", "error")


def last_stream_seq(run_id: UUID) -> int:
    """The run's newest committed number; 0 before its first."""
    return RunStream.objects.filter(run_id=run_id).values_list("last_stream_seq", flat=True).first() or 0


def stream_items(run_id: UUID, *, after_seq: int, limit: int, types: Collection[str] = ()) -> list[Item]:
    """Events and transitions above `after_seq`, ascending, at most `limit`; all types when `types` is empty."""
    events, transitions = _items_of(run_id, types)
    return _merged(
        events.filter(stream_seq__gt=after_seq).order_by("stream_seq")[:limit],
        transitions.filter(stream_seq__gt=after_seq).order_by("stream_seq")[:limit],
    )[:limit]


def newest_items(run_id: UUID, *, before_seq: int | None, limit: int, types: Collection[str] = ()) -> list[Item]:
    """The newest `limit` items (below `before_seq`), ascending."""
    events, transitions = _items_of(run_id, types)
    if before_seq is not None:
        events, transitions = events.filter(stream_seq__lt=before_seq), transitions.filter(stream_seq__lt=before_seq)
    return _merged(events.order_by("-stream_seq")[:limit], transitions.order_by("-stream_seq")[:limit])[-limit:]


def log_items(
    run_id: UUID, *, before_seq: int | None = None, limit: int, level: str = "", source: str = "", search: str = ""
) -> list[Item]:
    """The driver's log, newest first: at least as severe as `level`, from `source`, holding `search`."""
    rows = StreamItem.objects.filter(run_id=run_id, type="log")
    if before_seq is not None:
        rows = rows.filter(stream_seq__lt=before_seq)
    if level:
        rows = rows.filter(body__level__in=LOG_LEVELS[LOG_LEVELS.index(level) :])
    if source:
        rows = rows.filter(body__source=source)
    if search:
        rows = rows.filter(body__message__icontains=search)
    return [_event_item(row) for row in rows.order_by("-stream_seq")[:limit]]


def lanes_of(run_id: UUID) -> list[Lane]:
    """The lanes of the newest `lanes` event; empty before they were placed."""
    body = StreamItem.objects.filter(run_id=run_id, type="lanes").order_by("-stream_seq").values_list("body", flat=True)
    newest = body.first()
    return list(newest["lanes"]) if newest else []


def _items_of(run_id: UUID, types: Collection[str]) -> tuple[QuerySet[StreamItem], QuerySet[RunTransition]]:
    events = StreamItem.objects.filter(run_id=run_id)
    transitions = RunTransition.objects.filter(run_id=run_id)
    if types:
        events = events.filter(type__in=types)
        transitions = transitions if TRANSITION in types else transitions.none()
    return events, transitions


def _merged(events: Iterable[StreamItem], transitions: Iterable[RunTransition]) -> list[Item]:
    items: list[Item] = [*map(_event_item, events), *({**transition_item(one)} for one in transitions)]
    return sorted(items, key=lambda item: item["stream_seq"])


def _event_item(row: StreamItem) -> Item:
    return item(stream_seq=row.stream_seq, type=row.type, at=row.at, attempt=row.attempt, body=row.body)
