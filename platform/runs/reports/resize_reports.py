"""Applies a driver's reports on a resize: lanes it has let go of are released, roles are recorded, the result is kept.

Telemetry calls it through `runs.reports.driver_reports`, under the run's stream lock. Invariant: a lane is released
only when the driver says that it let go of it, or when the attempt's job is over (`runs.attempts.reconciler`).
"""

from collections import Counter
from uuid import UUID

from django.utils import timezone

from fleet.allocation.lane_loans import lent_names, record_dropped, record_joined, withdraw_notice
from fleet.selectors import grants_of
from fleet.services import change_role, release_lanes
from runs.models import Run, RunResize
from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneStep, ResizeCause, ResizeReport, ResizeState


def apply_report(run_id: UUID, attempt: int, report: ResizeReport) -> None:
    """Store the report, and change who holds the lanes accordingly. One on a resize that has ended changes nothing."""
    row = _row(run_id, attempt, report)
    if row is None or row.ended_at is not None:
        return
    joined = {progress.lane for progress in report.lanes if progress.step is LaneStep.JOINED}
    gone = {progress.lane for progress in report.lanes if progress.step.has_let_go}
    if report.state is not ResizeState.ACCEPTED:
        # A driver that refused the command may not have named the lanes.
        gone |= set(row.added) - joined
    dropped = {progress.lane: progress.num_dropped for progress in report.lanes if progress.num_dropped}
    record_dropped(run_id=run_id, attempt=attempt, dropped=dropped)
    release_lanes(run_id=run_id, attempt=attempt, names=gone)
    record_joined(run_id=run_id, attempt=attempt, names=joined)
    for progress in report.lanes:
        if progress.step is LaneStep.JOINED and progress.role is not None:
            change_role(run_id=run_id, attempt=attempt, name=progress.lane, role=progress.role)
    row.state, row.reason = report.state.value, report.reason
    row.lanes = [progress.model_dump(mode="json") for progress in report.lanes]
    row.trainer_seconds = None if report.trainer_seconds is None else report.trainer_seconds.model_dump()
    if report.state is not ResizeState.ACCEPTED:
        row.ended_at = timezone.now()
        if row.cause == ResizeCause.RECLAIM:
            kept = {progress.lane for progress in report.lanes if progress.step is LaneStep.KEPT}
            withdraw_notice(row.pk, kept)
        if row.cause == ResizeCause.USER:
            _keep_size(run_id, attempt)
    row.save(update_fields=["state", "reason", "lanes", "trainer_seconds", "ended_at"])


def _row(run_id: UUID, attempt: int, report: ResizeReport) -> RunResize | None:
    """The row of the reported resize; a new one for a resize that the driver decided itself. None for an id that is
    none of ours."""
    try:
        key = UUID(report.id)
    except ValueError:
        return None
    found = RunResize.objects.filter(pk=key).first()
    if found is not None:
        return found if (found.run_id, found.attempt) == (run_id, attempt) else None
    return RunResize.objects.create(
        pk=key, run_id=run_id, attempt=attempt, cause=report.cause.value, state=ResizeState.ACCEPTED.value
    )


def _keep_size(run_id: UUID, attempt: int) -> None:
    """Let later attempts of the run ask for as many lanes as this one holds now of its own."""
    borrowed = lent_names(run_id, attempt)
    held = Counter(grant.role for grant in grants_of(run_id, attempt) if grant.lane not in borrowed)
    Run.objects.filter(pk=run_id).update(resized_lanes={f"num_{role}": held[role] for role in LaneRole})
