"""Stores what became of the groups of each batch. Invariant: no batch that a resume went back behind is counted."""

from collections.abc import Sequence
from uuid import UUID

from telemetry.bulk_copy import copy_group_outcomes
from telemetry.models import GroupOutcomeRow
from worker.contracts.events import GroupsEvent, ResumedEvent, RunEvent


def store_group_outcomes(run_id: UUID, attempt: int, events: Sequence[RunEvent]) -> None:
    """Store the outcomes in `events`, in order; a resume among them drops those behind it, stored or not yet."""
    waiting: list[GroupsEvent] = []
    for event in events:
        match event:
            case GroupsEvent():
                waiting.append(event)
            case ResumedEvent():
                waiting = [one for one in waiting if one.batch <= event.batch]
                GroupOutcomeRow.objects.filter(run_id=run_id, batch__gt=event.batch).delete()
    copy_group_outcomes(run_id, attempt, waiting)
