"""Which of the visible runs a list shows."""

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
    """`search` finds runs whose name, notes or tags hold every word of it; archived runs only when asked for."""
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
