"""Filters of the runs list."""

from uuid import UUID

from django.db.models import Q, QuerySet

from runs.models import Run


def filter_runs(
    rows: QuerySet[Run],
    *,
    project: UUID | None = None,
    state: str = "",
    tag: str = "",
    archived: bool = False,
    search: str = "",
) -> QuerySet[Run]:
    """The runs that match every filter given. `search` matches if each of its words is in the name, the notes or a tag;
    archived runs are left out unless `archived` is set, and are then the only ones."""
    rows = rows.filter(archived_at__isnull=not archived)
    if project is not None:
        rows = rows.filter(project=project)
    if state:
        rows = rows.filter(state=state)
    if tag:
        rows = rows.filter(tags__contains=[tag])
    for word in search.split():
        rows = rows.filter(Q(name__icontains=word) | Q(notes__icontains=word) | Q(tags__icontains=word))
    return rows
