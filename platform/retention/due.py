"""What retention would delete now, before anything is: by kind and run, with counts and bytes."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, models
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from mirrors.models import MirroredRun
from retention.kinds import KINDS, Kind
from runs.models import Run


@dataclass(frozen=True, slots=True)
class Due:
    """What one run has of one kind, past its days."""

    kind: Kind
    run: Run
    num_rows: int
    row_bytes: int
    """About: their share of the table and its indexes."""
    num_files: int
    file_bytes: int

    @property
    def num_bytes(self) -> int:
        return self.row_bytes + self.file_bytes


def due(kind: Kind, of: Collection[UUID] | None = None) -> list[Due]:
    """The runs (all, or those of `of`) of which something is to be deleted, longest ended first; none where the kind is
    kept for good. Each table is counted once, however many runs there are."""
    runs = runs_past(kind) if of is None else runs_past(kind).filter(pk__in=of)
    keys = runs.order_by().values("pk")
    num_rows: Counter[UUID] = Counter()
    row_bytes: Counter[UUID] = Counter()
    for rows in KINDS[kind].rows(keys):
        of_table: dict[UUID, int] = dict(rows.order_by().values_list("run").annotate(Count("pk")))
        size = _bytes_of_a_row(rows.model, sum(of_table.values()))
        num_rows.update(of_table)
        row_bytes.update({run_id: round(num * size) for run_id, num in of_table.items()})
    counted = KINDS[kind].files(keys).order_by().values_list("run").annotate(Count("pk"), Sum("num_bytes"))
    files = {run_id: (num, num_bytes) for run_id, num, num_bytes in counted}
    return [
        Due(kind, run, num_rows[run.pk], row_bytes[run.pk], *files.get(run.pk, (0, 0)))
        for run in runs.filter(pk__in=[*num_rows, *files])
    ]


def runs_past(kind: Kind) -> QuerySet[Run]:
    """The runs that ended more than the kind's days ago, and of which no mirror still reads."""
    if not (ended_before := cutoff(kind)):
        return Run.objects.none()
    read = MirroredRun.objects.exclude(next_at=None).values("run_id")
    ended = Run.objects.filter(ended_at__lt=ended_before).exclude(pk__in=read)
    return ended.select_related("project").defer("spec", "prompts").order_by("ended_at", "pk")


def cutoff(kind: Kind) -> datetime | None:
    """Runs that ended before it are past the kind's days; None where it is kept for good."""
    days = KINDS[kind].days
    return timezone.now() - timedelta(days=days) if days > 0 else None


def _bytes_of_a_row(model: type[models.Model], num_counted: int) -> float:
    """The mean, of a table of at least so many rows: how many it has is known as of its last ANALYZE, or not at all."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_total_relation_size(oid) / greatest(reltuples, %s, 1) FROM pg_class WHERE oid = %s::regclass",
            [num_counted, model._meta.db_table],
        )
        return float(cursor.fetchone()[0])
