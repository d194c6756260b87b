"""The GPU-hours of a sweep: of the lanes that its runs held, also of runs that were deleted since."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import OuterRef, Subquery

from fleet.models import LaneUse
from fleet.shares.lane_hours import held_hours
from runs.models import Sweep, SweepRun


def gpu_hours_of_runs(run_ids: Iterable[UUID], now: datetime) -> dict[UUID, float]:
    """GPU-hours by run; runs that held no lane are left out."""
    uses = LaneUse.objects.filter(run_id__in=list(run_ids), since__lt=now).order_by()
    rows = uses.values("run_id").annotate(hours=held_hours(now=now)).values_list("run_id", "hours")
    return {run_id: float(hours or 0) for run_id, hours in rows if run_id is not None}


def gpu_hours_of_sweeps(sweep_ids: Iterable[UUID], now: datetime) -> dict[UUID, float]:
    """GPU-hours by sweep, in one query."""
    runs = SweepRun.objects.filter(point__sweep=OuterRef(OuterRef("pk"))).values("made_run")
    uses = LaneUse.objects.filter(run_id__in=Subquery(runs), since__lt=now).order_by()
    summed = uses.annotate(all=OuterRef("pk")).values("all").annotate(hours=held_hours(now=now)).values("hours")
    sweeps = Sweep.objects.filter(pk__in=list(sweep_ids)).order_by().annotate(hours=Subquery(summed))
    return {sweep_id: float(hours or 0) for sweep_id, hours in sweeps.values_list("pk", "hours")}


Held = tuple[float, float, int]
"""From when until when a lane was held, in Unix seconds, and its GPUs."""


def held_times(run_ids: Iterable[UUID], now: datetime) -> list[Held]:
    rows = LaneUse.objects.filter(run_id__in=list(run_ids), since__lt=now).values_list("since", "until", "gpus")
    return [(since.timestamp(), (until or now).timestamp(), len(gpus)) for since, until, gpus in rows]


class Hours(NamedTuple):
    gpus: float
    lanes: float


def hours_until(at: float, held: Sequence[Held]) -> Hours:
    """The hours of GPUs, and of lanes of any kind, that were spent at a time."""
    seconds = [(max(0.0, min(until, at) - since), gpus) for since, until, gpus in held]
    return Hours(sum(s * gpus for s, gpus in seconds) / 3600, sum(s for s, _ in seconds) / 3600)
