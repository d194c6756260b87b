"""How the best point of a sweep grew with what the sweep cost.

A point counts with the mean over its seeds after equally many batches, so that a lucky seed that is ahead of the others
does not count alone.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from uuid import UUID

from sweeps.objective_values import Measured
from sweeps.progress import Point
from sweeps.sweep_body import BestSoFar
from sweeps.sweep_hours import Held, hours_until


def best_so_far(
    points: Sequence[Point], curves: Mapping[UUID, Sequence[Measured]], held: Sequence[Held], *, maximise: bool
) -> list[BestSoFar]:
    """Each improvement, in the order of time."""
    means = sorted((mean for point in points for mean in _means(point, curves)), key=lambda mean: (mean[0], mean[2]))
    found: list[BestSoFar] = []
    for at, value, number in means:
        if found and (value <= found[-1]["value"] if maximise else value >= found[-1]["value"]):
            continue
        hours = hours_until(at, held)
        found.append({"at": at, "gpu_hours": hours.gpus, "lane_hours": hours.lanes, "value": value, "point": number})
    return found


def _means(point: Point, curves: Mapping[UUID, Sequence[Measured]]) -> list[tuple[float, float, int]]:
    """`(at, mean, number of the point)` after each batch that all its seeds have a value of; runs that ended before it
    are left out."""
    if any(place.is_waiting for place in point.places):
        return []
    by_run = {run: {one.batch: one for one in curves.get(run.pk, ())} for run in point.runs}
    means: list[tuple[float, float, int]] = []
    for batch in sorted({batch for curve in by_run.values() for batch in curve}):
        measured = [curve[batch] for curve in by_run.values() if batch in curve]
        if all(batch in curve or run.has_ended for run, curve in by_run.items()):
            means.append((max(one.at for one in measured), fmean(one.value for one in measured), point.number))
    return means
