"""The objective of runs, as ingest stored it: at a rung, newest, and over a whole run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import F, IntegerField, OuterRef, Q, Subquery
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Mod

from runs.models import SweepRun
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


@dataclass(frozen=True, slots=True)
class NewestValue:
    """The newest value of the objective of one run of a sweep."""

    sweep: UUID
    point: int
    """Its key."""
    run: UUID
    value: float


def newest_values(sweep_ids: Iterable[UUID]) -> list[NewestValue]:
    """Of every run of these sweeps that has one, each by the objective of its sweep, in one query."""
    of_run = MetricPoint.objects.filter(run=OuterRef("run"), key=OuterRef("metric"))
    newest = of_run.order_by("-optimizer_step", "-stream_seq").values("value")[:1]
    places = SweepRun.objects.filter(point__sweep__in=list(sweep_ids), run__isnull=False).order_by()
    metric = KeyTextTransform("metric", KeyTransform("objective", "point__sweep__plan"))
    rows = places.annotate(metric=metric).annotate(newest=Subquery(newest)).filter(newest__isnull=False)
    found = rows.values_list("point__sweep", "point", "run", "newest")
    return [NewestValue(sweep, point, run, value) for sweep, point, run, value in found if run is not None]


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
