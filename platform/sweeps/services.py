"""Writes by users to sweeps: making, stopping, deleting. `sweeps.advance` does the rest.

Runs of a sweep are a project's ordinary runs, so who may make, stop and delete them may do so with the sweep.
"""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import TO_CONTROL_RUNS, TO_CREATE_RUNS, TO_DELETE_RUNS, require_role
from accounts.models import Project, User
from audit.record import record
from runs.command_services import stop_run_for
from runs.enqueue import enqueue_on_commit
from runs.models import Run, Sweep, SweepPoint, SweepRun, SweepState
from sweeps.points import CheckedPoints, checked_points
from sweeps.sweep_plan import PlanRefused, SweepPlan, read_plan
from worker.contracts.task_names import ADVANCE_SWEEPS


class SweepStateConflict(Exception):
    """What is asked for is not possible in the sweep's state."""

    def __init__(self, wanted: str, state: str, advice: str) -> None:
        self.state = state
        super().__init__(f"`{wanted}` is not possible while the sweep is {state}: {advice}")


def checked_plan(project: Project, document: Any) -> tuple[SweepPlan, CheckedPoints]:
    """The plan and its points, nothing written. Raises `ValidationError` by dotted path below `sweep`."""
    try:
        plan = read_plan(document)
        return plan, checked_points(plan, project)
    except PlanRefused as error:
        raise ValidationError({f"sweep.{path}".rstrip("."): texts for path, texts in error.errors.items()}) from error


def create_sweep(*, user: User, project: Project, document: Any, parent: Run | None = None) -> Sweep:
    """A sweep of a plan (a mapping, or YAML text), with all its points and places. Its runs follow in the background.
    Raises `ValidationError` by field."""
    require_role(user, project, TO_CREATE_RUNS)
    plan, checked = checked_plan(project, document)
    with transaction.atomic():
        sweep = Sweep.objects.create(
            project=project,
            name=plan.name,
            created_by=user,
            parent=parent,
            plan=plan.model_dump(mode="json"),
            fields=list(plan.space),
            num_invalid_draws=checked.num_invalid_draws,
            invalid_draw=checked.invalid_draw,
        )
        points = SweepPoint.objects.bulk_create(
            SweepPoint(sweep=sweep, number=number, values=values) for number, values in enumerate(checked.points, 1)
        )
        SweepRun.objects.bulk_create(SweepRun(point=point, seed=seed) for point in points for seed in plan.seeds)
        record(
            "sweep.create",
            sweep,
            user=user,
            project_id=project.pk,
            num_points=len(points),
            num_seeds=plan.num_seeds,
            budget_gpu_hours=plan.budget_gpu_hours,
        )
        enqueue_on_commit(ADVANCE_SWEEPS)
    return sweep


@transaction.atomic
def stop_sweep(*, user: User, sweep: Sweep) -> Sweep:
    """Stop its runs, and start no more. Raises `SweepStateConflict` for one that does so already, or has ended."""
    require_role(user, sweep.project, TO_CONTROL_RUNS)
    locked = Sweep.objects.select_for_update().get(pk=sweep.pk)
    if locked.state != SweepState.RUNNING:
        raise SweepStateConflict("stop", locked.state, "it starts no more runs")
    locked.state, locked.reason = SweepState.STOPPING, f"{user.username} stopped it"
    locked.save(update_fields=["state", "reason"])
    record("sweep.stop", locked, user=user, project_id=locked.project_id)
    for run in Run.objects.filter(sweep_place__point__sweep=locked).only("pk", "state"):
        if not run.has_ended:
            stop_run_for(run, actor=user.username, reason=f"with the sweep {locked.name}, which {locked.reason}")
    enqueue_on_commit(ADVANCE_SWEEPS)
    return locked


@transaction.atomic
def delete_sweep(*, user: User, sweep: Sweep) -> None:
    """Delete an ended sweep; its runs stay. Raises `SweepStateConflict`."""
    require_role(user, sweep.project, TO_DELETE_RUNS)
    locked = Sweep.objects.select_for_update().get(pk=sweep.pk)
    if locked.ended_at is None:
        raise SweepStateConflict("delete", locked.state, "stop it, and wait until its runs have ended")
    record("sweep.delete", locked, user=user, project_id=locked.project_id)
    locked.delete()
