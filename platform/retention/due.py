"""What retention would delete now, before anything is: by kind and run, with counts and bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

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
    """About: the mean of the table's rows, with its indexes."""
    num_files: int
    file_bytes: int

    @property
    def num_bytes(self) -> int:
        return self.row_bytes + self.file_bytes


def due(kind: Kind) -> Iterator[Due]:
    """The runs of which something is to be deleted, longest ended first; none where the kind is kept for good."""
    sizes: dict[str, float] = {}
    for run in runs_past(kind):
        num_rows, row_bytes = 0, 0.0
        for rows in KINDS[kind].rows(run.pk):
            table = rows.model._meta.db_table
            if table not in sizes:
                sizes[table] = _bytes_of_a_row(rows.model)
            num = rows.count()
            num_rows, row_bytes = num_rows + num, row_bytes + num * sizes[table]
        files = KINDS[kind].files(run.pk).aggregate(num=Count("pk"), num_bytes=Sum("num_bytes", default=0))
        if num_rows or files["num"]:
            yield Due(kind, run, num_rows, round(row_bytes), files["num"], files["num_bytes"])


def runs_past(kind: Kind) -> QuerySet[Run]:
    """The runs that ended more than the kind's days ago, and of which no mirror still reads."""
    if not (ended_before := cutoff(kind)):
        return Run.objects.none()
    read = MirroredRun.objects.exclude(next_at=None).values("run_id")
    ended = Run.objects.filter(ended_at__lt=ended_before).exclude(pk__in=read)
    return ended.select_related("project").defer("spec", "prompts").order_by("ended_at")


def cutoff(kind: Kind) -> datetime | None:
    """Runs that ended before it are past the kind's days; None where it is kept for good."""
    days = KINDS[kind].days
    return timezone.now() - timedelta(days=days) if days > 0 else None


def _bytes_of_a_row(model: type[models.Model]) -> float:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_total_relation_size(oid) / greatest(reltuples, 1) FROM pg_class WHERE oid = %s::regclass",
            [model._meta.db_table],
        )
        return float(cursor.fetchone()[0])
