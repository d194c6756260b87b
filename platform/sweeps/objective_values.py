"""The objective of runs, as ingest stored it: at a rung, newest, and over a whole run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import F, IntegerField, Q
from django.db.models.functions import Mod

from telemetry.models import MetricPoint

MAX_VALUES_PER_RUN = 50
"""Of a curve that has a value for each batch: as many as its chart can show apart."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The objective of a run after some complete batches."""

    batch: int
    at: float
    """Unix time in seconds."""
    value: float


def values_at(metric: str, batches: Mapping[UUID, int]) -> dict[UUID, float]:
    """The first value of each run from its batch on; runs without one are left out."""
    if not batches:
        return {}
    wanted = reduce(or_, (Q(run_id=run_id, batch__gte=batch) for run_id, batch in batches.items()))
    rows = MetricPoint.objects.filter(wanted, key=metric).order_by("run_id", "batch", "-stream_seq").distinct("run_id")
    return dict(rows.values_list("run_id", "value"))


def curves_of(metric: str, runs: Iterable[UUID], *, num_batches: int) -> dict[UUID, list[Measured]]:
    """The values of each run in the order of its batches; of a curve that has one for each batch, every so many of
    `num_batches`."""
    step = 1 if metric.startswith("eval/") else max(1, num_batches // MAX_VALUES_PER_RUN)
    rows = MetricPoint.objects.filter(run_id__in=list(runs), key=metric)
    if step > 1:
        rows = rows.annotate(rest=Mod(F("batch"), step, output_field=IntegerField())).filter(rest=0)
    found: dict[UUID, list[Measured]] = {}
    for run_id, batch, at, value in rows.order_by("run_id", "batch", "stream_seq").values_list(
        "run_id", "batch", "at", "value"
    ):
        of_run = found.setdefault(run_id, [])
        if of_run and of_run[-1].batch == batch:
            of_run.pop()  # an attempt after it evaluated the same batch again
        of_run.append(Measured(batch, at, value))
    return found
