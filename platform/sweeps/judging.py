"""Judges the points of a sweep at their rungs, and stops the runs of those that Optuna prunes.

A point is at a rung once all its seeds are: each run has a value of the objective after at least so many samples, or
has ended without one and is left out. It reports the mean over its seeds. Invariant: a report and the stop of the runs
that it prunes are one transaction, under the sweep's lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from uuid import UUID

from runs.command_services import stop_run_for
from runs.models import RungReport, Sweep
from sweeps.objective_values import values_at
from sweeps.progress import Point, PointState, points_of
from sweeps.rungs import Report, batches_to, rungs, verdicts
from sweeps.sweep_plan import PrunerKind, SweepPlan

ACTOR = "sweep"
"""Who stops runs, in their history."""


@dataclass(frozen=True, slots=True)
class _AtRung:
    point: Point
    rung: int
    values: list[float]

    @property
    def report(self) -> Report:
        return Report(self.point.number, self.rung, fmean(self.values))


def judge(sweep: Sweep, plan: SweepPlan) -> int:
    """Judge every point that has reached its next rung; returns how many reports that were. The sweep's row is locked
    by the caller."""
    if plan.pruner.kind is PrunerKind.NONE:
        return 0
    num_reports = 0
    # A point may have passed several rungs since the last round: it is judged at each, and others in between.
    while found := _at_next_rung(plan, points_of(sweep)):
        _report(sweep, plan, found)
        num_reports += len(found)
    return num_reports


def _at_next_rung(plan: SweepPlan, points: Sequence[Point]) -> list[_AtRung]:
    waiting: list[tuple[Point, int]] = []
    batches: dict[UUID, int] = {}
    for point in points:
        if point.state is PointState.PRUNED or any(place.is_waiting for place in point.places):
            continue
        ahead = rungs(plan.pruner, point.num_samples)[len(point.reports) :]
        if ahead:
            waiting.append((point, ahead[0]))
            batches |= {run.pk: batches_to(ahead[0], point.num_samples_per_batch) for run in point.runs}
    values = values_at(plan.objective.metric, batches)
    return [
        _AtRung(point, rung, reached)
        for point, rung in waiting
        if (reached := [values[run.pk] for run in point.runs if run.pk in values])
        and all(run.has_ended for run in point.runs if run.pk not in values)
    ]


def _report(sweep: Sweep, plan: SweepPlan, found: Sequence[_AtRung]) -> None:
    told = [
        Report(row.point.number, row.num_samples, row.value)
        for row in RungReport.objects.filter(point__sweep=sweep).select_related("point").order_by("pk")
    ]
    said = verdicts(plan.pruner, plan.objective, [*told, *(one.report for one in found)])[len(told) :]
    for one, is_pruned in zip(found, said, strict=True):
        told.append(one.report)
        reason = _why(one.report, told, plan, num_seeds=len(one.values)) if is_pruned else ""
        RungReport.objects.create(
            point=one.point.row, num_samples=one.rung, value=one.report.value, is_pruned=is_pruned, reason=reason
        )
        if is_pruned:
            for run in one.point.runs:
                stop_run_for(run, actor=ACTOR, reason=f"by the sweep {sweep.name}, which pruned it: {reason}")


def _why(report: Report, told: Sequence[Report], plan: SweepPlan, *, num_seeds: int) -> str:
    rivals = [other.value for other in told if other.num_samples == report.num_samples]
    better = sum(value > report.value if plan.objective.maximise else value < report.value for value in rivals)
    seeds = "" if num_seeds == 1 else f", the mean of {num_seeds} seeds"
    return (
        f"{plan.objective.metric} {report.value:.4g} at {report.num_samples:,} samples{seeds}: place {better + 1} of "
        f"the {len(rivals)} points that have reached this rung, of which 1 in {plan.pruner.reduction_factor} goes on"
    )
