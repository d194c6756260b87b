"""Filters of the runs list."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import User
from runs.models import Run


def filter_runs(
    rows: QuerySet[Run],
    *,
    user: User,
    project: UUID | None = None,
    state: Collection[str] = (),
    tag: str = "",
    mine: bool = False,
    ended_days: int | None = None,
    archived: bool = False,
    search: str = "",
) -> QuerySet[Run]:
    """The runs that match every filter given. `search` matches if each of its words is in the name, the notes or a tag;
    `mine` leaves those that `user` created. Archived runs are left out unless `archived` is set, and are then the only
    ones."""
    rows = rows.filter(archived_at__isnull=not archived)
    if project is not None:
        rows = rows.filter(project=project)
    if state:
        rows = rows.filter(state__in=state)
    if tag:
        rows = rows.filter(tags__contains=[tag])
    if mine:
        rows = rows.filter(created_by=user)
    if ended_days is not None:
        rows = rows.filter(ended_at__gte=timezone.now() - timedelta(days=ended_days))
    for word in search.split():
        rows = rows.filter(Q(name__icontains=word) | Q(notes__icontains=word) | Q(tags__icontains=word))
    return rows
