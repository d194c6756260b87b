"""Attempts: created with their lanes, claimed for launch, closed once. Whoever closes one handles the consequences.

Invariant: at most one attempt of a run is open, and it is the newest; a closed one gets 410 from then on.
"""

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from runs.models import Attempt, AttemptOutcome, PendingCommand, PlanRevision, Run, RunResize
from runs.planning.auto_placement import ResolvedPlacement
from runs.run_traces import trace_attempt
from worker.contracts.commands import CommandKind
from worker.contracts.resizing import ResizeState


def mint(run: Run, number: int, chosen: ResolvedPlacement, num_overtaken: int = 0) -> Attempt:
    """The run's next attempt, open. The caller holds the run's stream lock and has its lanes."""
    algebra = chosen.spec.algebra.model_dump(mode="json")
    Run.objects.filter(pk=run.pk).update(attempt=number, last_heartbeat_at=None, phase="", algebra=algebra)
    attempt = Attempt.objects.create(
        run=run,
        number=number,
        resumed_from=run.resume_from,
        num_overtaken=num_overtaken,
        rewards_on=chosen.spec.lanes.rewards_on.value,
    )
    if chosen.plan is not None:
        PlanRevision.objects.create(
            run=run,
            attempt=attempt,
            number=run.plan_revisions.count() + 1,
            since_batch=run.resume_batch,
            reason=chosen.reason,
            spec=chosen.spec.model_dump(mode="json"),
            plan=chosen.plan,
        )
    return attempt


def open_attempt(run_id: UUID) -> Attempt | None:
    return Attempt.objects.filter(run_id=run_id, ended_at=None).first()


def close(run_id: UUID, number: int, outcome: AttemptOutcome, *, detail: str, log_tail: str = "") -> bool:
    """Close the attempt; False if somebody else has closed it. Its unanswered commands are closed too: those that asked
    for the run's end count as accepted."""
    rows = Attempt.objects.filter(run_id=run_id, number=number, ended_at=None)
    if not rows.update(ended_at=timezone.now(), outcome=outcome.value, detail=detail, log_tail=log_tail):
        return False
    trace_attempt(run_id, number, outcome, detail)
    unanswered = PendingCommand.objects.filter(run_id=run_id, done_at=None)
    if outcome is not AttemptOutcome.LOST:
        ends = unanswered.filter(kind__in=[CommandKind.STOP, CommandKind.CANCEL])
        ends.update(done_at=timezone.now(), accepted=True, detail=detail)
    unanswered.update(done_at=timezone.now(), accepted=False, detail=f"not done: {detail}")
    # Its lanes, those added too, are released with all others of the attempt once its job is over.
    unfinished = RunResize.objects.filter(run_id=run_id, ended_at=None)
    unfinished.update(state=ResizeState.FAILED.value, reason=f"not done: {detail}", ended_at=timezone.now())
    return True


def claim_launch(run_id: UUID, number: int, *, code_hash: str, expires_at: datetime) -> Attempt | None:
    """Claim the launch: the attempt for the first caller, which submits its job, and None for all others."""
    rows = Attempt.objects.filter(run_id=run_id, number=number, ended_at=None, submitted_at=None)
    claimed = rows.update(
        submitted_at=timezone.now(), bootstrap_code_hash=code_hash, bootstrap_expires_at=expires_at, detail=""
    )
    return Attempt.objects.select_related("run").get(run_id=run_id, number=number) if claimed else None


def give_up_claim(attempt: Attempt, *, detail: str) -> None:
    """Give up the claim after a failed submission, so that the reconciler launches the attempt again."""
    Attempt.objects.filter(pk=attempt.pk, ended_at=None).update(
        submitted_at=None, bootstrap_code_hash="", bootstrap_expires_at=None, detail=detail
    )


def num_lost(run_id: UUID) -> int:
    """Number of lost attempts of the run, which `max_attempts` bounds."""
    return Attempt.objects.filter(run_id=run_id, outcome=AttemptOutcome.LOST).count()
