"""Reads of operations: a page of all kinds in one order, and one of them.

A page is a union of the newest keys of each kind, and then a few queries for each kind that is on it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from accounts.access import NotVisible
from accounts.models import User
from audit.models import AuditEntry
from operations.all_sources import SOURCES
from operations.operation_body import OperationBody
from operations.operation_source import OperationFilter, OperationSource, Reader
from runs.operation_ids import OperationKind, operation_id

NO_SUCH = "no such operation"
NEAR = timedelta(minutes=1)
"""Longer than the transaction takes that begins an operation and tells the audit log of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the list."""

    at: datetime
    id: str


def operations(
    user: User, wanted: OperationFilter, *, after: Place | None, number: int, oldest_first: bool = False
) -> list[OperationBody]:
    """The `number` operations that come next after a place, or fewer at the end."""
    order = ("begun", "operation") if oldest_first else ("-begun", "-operation")
    branches = []
    for source in SOURCES.values():
        keys = source.keys(user, wanted)
        if keys is not None:
            ahead = keys if after is None else keys.filter(_beyond(after, oldest_first=oldest_first))
            branches.append(ahead.order_by(*order).values_list("begun", "operation")[:number])
    if not branches:
        return []
    first, *others = branches
    page = (first.union(*others, all=True) if others else first).order_by(*order)[:number] if others else first
    return _bodies(Reader.of(user), [key for _, key in page])


def operation(user: User, wanted: str) -> OperationBody:
    """Raises `NotVisible`."""
    source, row = find(user, wanted)
    body = source.bodies(Reader.of(user), [row])[0]
    body["request_id"] = _request_ids({wanted: (source, row)}).get(wanted, "")
    return body


def find(user: User, wanted: str) -> tuple[OperationSource[Any], Any]:
    """The row of an operation, with its source. Raises `NotVisible` for outsiders and for ids that name nothing."""
    kind, _, key = wanted.partition("-")
    source = SOURCES.get(kind)
    row = None if source is None else source.find(user, key)
    if source is None or row is None:
        raise NotVisible(NO_SUCH)
    return source, row


def begun_by(request_id: str) -> frozenset[str]:
    """The ids of the operations that a request began, as the audit log has them."""
    entries = AuditEntry.objects.filter(request_id=request_id, action__in=_FIELDS)
    return frozenset(_begun(entry) for entry in entries)


_FIELDS = {action: (source.kind, field) for source in SOURCES.values() for action, field in source.audited.items()}


def _begun(entry: AuditEntry) -> str:
    """The operation that an entry tells the beginning of."""
    kind, field = _FIELDS[entry.action]
    return operation_id(kind, entry.changes.get(field, "") if field else entry.object_id)


def _beyond(place: Place, *, oldest_first: bool) -> Q:
    side = "gt" if oldest_first else "lt"
    return Q(**{f"begun__{side}": place.at}) | Q(begun=place.at, **{f"operation__{side}": place.id})


def _bodies(reader: Reader, ids: list[str]) -> list[OperationBody]:
    """In the order of `ids`; one that is gone by now is left out."""
    keys: dict[OperationKind, list[str]] = {}
    for one in ids:
        kind, _, key = one.partition("-")
        keys.setdefault(OperationKind(kind), []).append(key)
    found: dict[str, OperationBody] = {}
    rows: dict[str, tuple[OperationSource[Any], Any]] = {}
    for kind, wanted in keys.items():
        source = SOURCES[kind]
        read = list(source.rows(reader.user).filter(pk__in=wanted))
        rows |= {operation_id(kind, row.pk): (source, row) for row in read}
        found |= {body["id"]: body for body in source.bodies(reader, read)}
    request_ids = _request_ids(rows)
    for body in found.values():
        body["request_id"] = request_ids.get(body["id"], "")
    return [found[one] for one in ids if one in found]


def _request_ids(rows: dict[str, tuple[OperationSource[Any], Any]]) -> dict[str, str]:
    """The request that began each, where the audit log has it; one query."""
    objects: dict[str, set[str]] = {}
    for source, row in rows.values():
        object_type, object_id = source.audited_object(row)
        objects.setdefault(object_type, set()).add(object_id)
    told = Q()
    for object_type, object_ids in objects.items():
        told |= Q(object_type=object_type, object_id__in=object_ids)
    if not objects:
        return {}
    began = [getattr(row, source.created_at) for source, row in rows.values()]
    near = {"at__gte": min(began) - NEAR, "at__lte": max(began) + NEAR}
    entries: Iterable[AuditEntry] = AuditEntry.objects.filter(told, action__in=_FIELDS, **near).exclude(request_id="")
    return {_begun(entry): entry.request_id for entry in entries}
