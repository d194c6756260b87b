"""Reads of sweeps, for those who may see their project. Outsiders get `NotVisible`, a 404."""

from collections.abc import Iterable
from datetime import datetime
from statistics import fmean
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from accounts.access import Actor, NotVisible, roles_of, visible_projects
from runs.models import RungReport, Sweep, SweepPoint, SweepRun
from runs.operation_ids import OperationKind, operation_id
from sweeps.best_points import best_points
from sweeps.best_so_far import best_so_far
from sweeps.objective_values import curves_of, newest_values
from sweeps.progress import Place, Point, points_of
from sweeps.sweep_body import ListedSweep, RungBody, SweepBody, SweepCounts, SweptPoint, SweptRun
from sweeps.sweep_hours import gpu_hours_of_runs, gpu_hours_of_sweeps, held_times, hours_until
from sweeps.sweep_plan import SweepPlan
from worker.contracts.states import END_STATES

NO_RUNS: SweepCounts = {"num_points": 0, "num_runs": 0, "num_runs_ended": 0, "num_runs_live": 0}
_ENDED = [state.value for state in END_STATES]


def visible_sweeps(user: Actor) -> QuerySet[Sweep]:
    """Every sweep of the user's projects, newest first."""
    return Sweep.objects.filter(project__in=visible_projects(user)).select_related("project", "created_by")


def get_sweep(user: Actor, sweep_id: UUID | str) -> Sweep:
    """Raises `NotVisible` for outsiders and for ids that name nothing."""
    try:
        return visible_sweeps(user).get(pk=UUID(str(sweep_id)))
    except (Sweep.DoesNotExist, ValueError) as error:
        raise NotVisible("no such sweep") from error


def listed_sweeps(user: Actor, sweeps: Iterable[Sweep]) -> list[ListedSweep]:
    """Their lines in the list, with a constant number of queries."""
    sweeps, roles = list(sweeps), roles_of(user)
    ids = [sweep.pk for sweep in sweeps]
    hours, counts, num_pruned = gpu_hours_of_sweeps(ids, timezone.now()), run_counts(ids), _num_pruned(ids)
    best = best_points(sweeps)
    return [
        {
            "id": str(sweep.pk),
            "operation": operation_id(OperationKind.SWEEP, sweep.pk),
            "name": sweep.name,
            "project": {
                "id": str(sweep.project_id),
                "name": sweep.project.name,
                "role": roles.get(sweep.project_id),
            },
            "created_by": None if sweep.created_by is None else sweep.created_by.username,
            "created_at": sweep.created_at.isoformat(),
            "ended_at": None if sweep.ended_at is None else sweep.ended_at.isoformat(),
            "state": sweep.state,
            "reason": sweep.reason,
            "num_pruned": num_pruned.get(sweep.pk, 0),
            "best": best.get(sweep.pk),
            # A sweep may have been deleted since it was found.
            "gpu_hours": hours.get(sweep.pk, 0.0),
            "budget_gpu_hours": sweep.plan["budget_gpu_hours"],
            **counts.get(sweep.pk, NO_RUNS),
        }
        for sweep in sweeps
    ]


def run_counts(sweep_ids: list[UUID]) -> dict[UUID, SweepCounts]:
    """How far sweeps are, in one query."""
    is_filled = Q(filled_at__isnull=False)
    is_live = is_filled & Q(run__isnull=False) & ~Q(run__state__in=_ENDED)
    rows = SweepRun.objects.filter(point__sweep__in=sweep_ids).order_by().values_list("point__sweep")
    found = rows.annotate(
        num_points=Count("point", distinct=True),
        num_runs=Count("pk"),
        num_filled=Count("pk", filter=is_filled),
        num_live=Count("pk", filter=is_live),
    )
    return {
        sweep_id: {
            "num_points": num_points,
            "num_runs": num_runs,
            "num_runs_ended": num_filled - num_live,
            "num_runs_live": num_live,
        }
        for sweep_id, num_points, num_runs, num_filled, num_live in found
    }


def _num_pruned(sweep_ids: list[UUID]) -> dict[UUID, int]:
    pruned = SweepPoint.objects.filter(sweep__in=sweep_ids, reports__is_pruned=True).order_by()
    return dict(pruned.values_list("sweep").annotate(Count("pk", distinct=True)))


def sweep_body(user: Actor, sweep: Sweep) -> SweepBody:
    """The sweep in full."""
    now, plan = timezone.now(), SweepPlan.model_validate(sweep.plan)
    points = points_of(sweep)
    made = [place.row.made_run for point in points for place in point.places if place.row.made_run is not None]
    num_batches = max((run.num_batches for point in points for run in point.runs), default=0)
    curves = curves_of(plan.objective.metric, made, num_batches=num_batches)
    held = held_times(made, now)
    return {
        **listed_sweeps(user, [sweep])[0],
        "plan": {**sweep.plan, "space": {field: sweep.plan["space"][field] for field in sweep.fields}},
        "parent": None if sweep.parent_id is None else str(sweep.parent_id),
        "num_invalid_draws": sweep.num_invalid_draws,
        "invalid_draw": sweep.invalid_draw,
        "lane_hours": hours_until(now.timestamp(), held).lanes,
        "points": _swept_points(sweep, points, made, now),
        "best_so_far": best_so_far(points, curves, held, maximise=plan.objective.maximise),
    }


def _swept_points(sweep: Sweep, points: list[Point], made: list[UUID], now: datetime) -> list[SweptPoint]:
    newest = {one.run: one.value for one in newest_values([sweep.pk])}
    hours = gpu_hours_of_runs(made, now)
    return [_swept_point(sweep, point, newest, hours) for point in points]


def _swept_point(sweep: Sweep, point: Point, newest: dict[UUID, float], hours: dict[UUID, float]) -> SweptPoint:
    runs = [_swept_run(place, point, newest, hours) for place in point.places]
    values = [run["value"] for run in runs if run["value"] is not None]
    return {
        "number": point.number,
        "values": {field: point.row.values[field] for field in sweep.fields},
        "state": point.state.value,
        "value": fmean(values) if values else None,
        "least": min(values, default=None),
        "greatest": max(values, default=None),
        "num_samples": min((run["num_samples"] for run in runs if run["id"] is not None), default=0),
        "gpu_hours": sum(run["gpu_hours"] for run in runs),
        "rungs": [_rung(report) for report in point.reports],
        "runs": runs,
    }


def _swept_run(place: Place, point: Point, newest: dict[UUID, float], hours: dict[UUID, float]) -> SweptRun:
    run, made = place.run, place.row.made_run
    return {
        "seed": place.row.seed,
        "id": None if run is None else str(run.pk),
        "name": "" if run is None else run.name,
        "state": None if run is None else run.state,
        "problem": place.row.problem,
        "value": None if run is None else newest.get(run.pk),
        "num_samples": 0 if run is None else run.num_batches_done * point.num_samples_per_batch,
        "gpu_hours": 0.0 if made is None else hours.get(made, 0.0),
    }


def _rung(report: RungReport) -> RungBody:
    return {
        "num_samples": report.num_samples,
        "value": report.value,
        "is_pruned": report.is_pruned,
        "reason": report.reason,
        "at": report.at.isoformat(),
    }
