"""Sole writer of what takes work: each change is one row of history.

Invariant: nothing here changes who holds a lane. Runs keep their lanes; only later allocations are affected.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from fleet.models import Gpu, Lane, Node, ServiceState, StateChange
from fleet.models.service_states import FOUND, LOST
from fleet.pools.pool_changes import publish_holders
from fleet.signals import announce_lanes
from fleet.states.pool_news import tell_of_states


@transaction.atomic
def change_state(
    what: Node | Gpu | Lane, new: ServiceState, *, by: str, reason: str = "", until: datetime | None = None
) -> StateChange | None:
    """Write the new state of a node, GPU or lane, and return the row of its history; None if nothing changes. `what` is
    refreshed."""
    row = type(what).objects.select_for_update(of=("self",)).get(pk=what.pk)
    change = None
    if (row.state, row.reason, row.state_until) != (new.value, reason, until):
        now = timezone.now()
        change = _append(row, row.state, new.value, by=by, reason=reason, at=now)
        row.state, row.reason, row.changed_by = new.value, reason, by
        row.state_since, row.state_until = now, until
        row.save(update_fields=["state", "reason", "changed_by", "state_since", "state_until"])
        if new is ServiceState.ACTIVE:
            announce_lanes()
    what.refresh_from_db()
    return change


Row = TypeVar("Row", Node, Gpu, Lane)


@transaction.atomic
def change_states(
    rows: QuerySet[Row], new: ServiceState, *, by: str, reason: str = "", until: datetime | None = None
) -> list[tuple[Row, StateChange]]:
    """Do the same to all of these, with as many statements as for one; returns those that changed, refreshed, each with
    the row of its history."""
    now = timezone.now()
    changed = [
        row
        for row in rows.select_for_update(of=("self",))
        if (row.state, row.reason, row.state_until) != (new.value, reason, until)
    ]
    changes = [_change(row, row.state, new.value, by=by, reason=reason, at=now) for row in changed]
    StateChange.objects.bulk_create(changes)
    tell_of_states(changes)
    for row in changed:
        row.state, row.reason, row.changed_by = new.value, reason, by
        row.state_since, row.state_until = now, until
    rows.model._default_manager.filter(pk__in=[row.pk for row in changed]).update(
        state=new.value, reason=reason, changed_by=by, state_since=now, state_until=until
    )
    publish_holders(_node_id(row) for row in changed)
    if changed and new is ServiceState.ACTIVE:
        announce_lanes()
    return list(zip(changed, changes, strict=True))


def mark_lost(rows: Iterable[Node | Gpu], *, by: str, reason: str, at: datetime) -> None:
    """Record since when rows that were there are gone."""
    for row in rows:
        row.lost_since = at
        row.save(update_fields=["lost_since"])
        _append(row, row.state, LOST, by=by, reason=reason, at=at)


def mark_found(rows: Iterable[Node | Gpu], *, by: str, at: datetime) -> None:
    """Record that rows that were lost are there again, in the state that they were in."""
    for row in rows:
        row.lost_since = None
        row.save(update_fields=["lost_since"])
        _append(row, LOST, FOUND, by=by, reason="", at=at)
        announce_lanes()


def _append(row: Node | Gpu | Lane, old: str, new: str, *, by: str, reason: str, at: datetime) -> StateChange:
    change = _change(row, old, new, by=by, reason=reason, at=at)
    change.save(force_insert=True)
    tell_of_states([change])
    publish_holders([_node_id(row)])
    return change


def _change(row: Node | Gpu | Lane, old: str, new: str, *, by: str, reason: str, at: datetime) -> StateChange:
    """The row of history, not stored."""
    return StateChange(
        node_id=_node_id(row),
        gpu=row if isinstance(row, Gpu) else None,
        lane=row if isinstance(row, Lane) else None,
        name=row.label if isinstance(row, Lane) else row.name,
        old=old,
        new=new,
        reason=reason,
        by=by,
        at=at,
    )


def _node_id(row: Node | Gpu | Lane) -> int:
    return row.pk if isinstance(row, Node) else row.node_id
