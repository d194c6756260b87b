"""The consequences of a lost driver, a long pause or an overdue end: one transaction each, by whoever closes the
attempt.

Invariant: a run without a driver never stays in a state that only a driver could leave.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from runs.attempts import attempts
from runs.attempts.failure import describe_failure
from runs.models import Attempt, AttemptOutcome, PendingCommand, Run
from runs.run_log import give_command
from runs.stream import lock_stream
from runs.transitions import move
from worker.contracts.commands import CommandKind
from worker.contracts.states import RunState

ACTOR = "reconciler"
PARK_CHECKPOINT_TIMEOUT = timedelta(seconds=120)


@transaction.atomic
def driver_lost(attempt: Attempt, *, reason: str, log_tail: str) -> bool:
    """Close the attempt and move its run on, to its next attempt or to its end. False if it was closed already."""
    run = _locked_run(attempt)
    if not attempts.close(run.pk, attempt.number, AttemptOutcome.LOST, detail=reason, log_tail=log_tail):
        return False
    if run.run_state is RunState.STOPPING:
        _finish_ending(run, reason, log_tail)
        return True
    num_lost = attempts.num_lost(run.pk)
    if num_lost >= run.max_attempts:
        bound = f"{reason}; {num_lost} of at most {run.max_attempts} attempts were lost"
        _fail(run, bound, log_tail)
        return True
    origin = f"batch {run.resume_batch}" if run.resume_from else "the beginning"
    onward = f"{reason}; attempt {run.attempt + 1} goes on from {origin} ({num_lost} of {run.max_attempts} lost)"
    new = RunState.QUEUED if run.run_state is RunState.STARTING else RunState.STARTING
    move(run.pk, [run.run_state], new, reason=onward, actor=ACTOR, attempt=attempt.number)
    return True


@transaction.atomic
def end_by_force(attempt: Attempt, *, reason: str, log_tail: str) -> bool:
    """Close the attempt of a driver that takes too long to stop, and end the run. False if it was closed already."""
    run = _locked_run(attempt)
    if not attempts.close(run.pk, attempt.number, AttemptOutcome.CLOSED, detail=reason, log_tail=log_tail):
        return False
    _finish_ending(run, reason, log_tail)
    return True


@transaction.atomic
def park(attempt: Attempt) -> bool:
    """Park a run that has been paused for long, so that its lanes are released: first a checkpoint, then its driver
    ends.

    True once the attempt is closed; the run stays paused, and resuming queues it. Called in every round until then. A
    pending resume takes precedence.
    """
    run = _locked_run(attempt)
    is_going_on = PendingCommand.objects.filter(run=run, kind=CommandKind.RESUME, done_at=None).exists()
    if run.run_state is not RunState.PAUSED or is_going_on:
        return False
    asked = PendingCommand.objects.filter(
        run=run, kind=CommandKind.CHECKPOINT_NOW, created_by=None, created_at__gte=run.state_changed_at
    ).first()
    if asked is None:
        give_command(run, CommandKind.CHECKPOINT_NOW, giver=None, actor="reconciler")
        return False
    if asked.done_at is None and timezone.now() - asked.created_at < PARK_CHECKPOINT_TIMEOUT:
        return False
    detail = f"paused for long: lanes freed, batch {run.resume_batch} is kept"
    if not asked.accepted:
        detail += f" (a newer checkpoint was not made: {asked.detail or 'no answer'})"
    return attempts.close(run.pk, attempt.number, AttemptOutcome.PARKED, detail=detail)


@transaction.atomic
def store_log_tail(attempt: Attempt, log_tail: str) -> None:
    """Store a failed driver's last log lines in the attempt and in the run's failure."""
    run = _locked_run(attempt)
    Attempt.objects.filter(pk=attempt.pk).update(log_tail=log_tail)
    if run.failure is not None and run.attempt == attempt.number and not run.failure.get("log_tail"):
        failure = describe_failure(
            run.run_spec,
            reason=run.failure["reason"],
            phase=run.failure["phase"],
            details=run.failure["details"],
            log_tail=log_tail,
        )
        Run.objects.filter(pk=run.pk).update(failure=failure)


def _locked_run(attempt: Attempt) -> Run:
    lock_stream(attempt.run_id)
    return Run.objects.get(pk=attempt.run_id)


def _finish_ending(run: Run, reason: str, log_tail: str) -> None:
    """End a run without its driver. Nothing is missing from a cancelled run; a stopped one may lack its last checkpoint
    and its LoRA."""
    if run.ending == CommandKind.CANCEL:
        move(run.pk, [RunState.STOPPING], RunState.CANCELLED, reason=reason, actor=ACTOR)
        return
    missing = f"{reason}, while it was stopping: its last checkpoint and LoRA may be missing"
    if run.resume_from:
        kept = f"{missing}; it can be resumed after batch {run.resume_batch}"
        move(run.pk, [RunState.STOPPING], RunState.STOPPED, reason=kept, actor=ACTOR)
    else:
        _fail(run, missing, log_tail)


def _fail(run: Run, reason: str, log_tail: str) -> None:
    failure = describe_failure(run.run_spec, reason=reason, phase=run.phase, log_tail=log_tail)
    move(run.pk, [run.run_state], RunState.FAILED, reason=reason, actor=ACTOR, changes={"failure": failure})
