"""The best point of each of several sweeps: that with the best mean, over its seeds, of the newest value."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from uuid import UUID

from runs.models import Sweep, SweepPoint
from sweeps.objective_values import NewestValue, newest_values
from sweeps.sweep_body import BestPoint
from sweeps.sweep_plan import Objective


def best_points(sweeps: Iterable[Sweep]) -> dict[UUID, BestPoint]:
    """By sweep, in two queries; sweeps without a value are left out."""
    by_id = {sweep.pk: sweep for sweep in sweeps}
    measured: dict[UUID, dict[int, list[NewestValue]]] = {}
    for one in newest_values(by_id):
        measured.setdefault(one.sweep, {}).setdefault(one.point, []).append(one)
    signs = {pk: 1 if Objective.model_validate(sweep.plan["objective"]).maximise else -1 for pk, sweep in by_id.items()}
    best = {pk: _best(points, signs[pk]) for pk, points in measured.items()}
    rows = SweepPoint.objects.in_bulk(best.values())
    # A sweep may have been deleted since its values were read.
    return {
        pk: _body(by_id[pk], rows[point], measured[pk][point], signs[pk]) for pk, point in best.items() if point in rows
    }


def _best(points: Mapping[int, list[NewestValue]], sign: int) -> int:
    """The key of the best point, of several the first."""
    return max(points, key=lambda point: (sign * fmean(one.value for one in points[point]), -point))


def _body(sweep: Sweep, point: SweepPoint, values: list[NewestValue], sign: int) -> BestPoint:
    return {
        "number": point.number,
        "values": {field: point.values[field] for field in sweep.fields},
        "value": fmean(one.value for one in values),
        "run": str(max(values, key=lambda one: sign * one.value).run),
    }
