"""Ends a run's driver without losing its work: it saves, and the run waits for lanes again.

Invariant: called in every round until it is done; one checkpoint is asked for, and a driver that does not save in time
is ended all the same, so that the run goes on from the checkpoint before.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from runs.attempts import attempts
from runs.models import Attempt, AttemptOutcome, PendingCommand, Run
from runs.run_log import give_command
from runs.stream import lock_stream
from runs.transitions import move
from worker.contracts.commands import CommandKind
from worker.contracts.states import RunState

CHECKPOINT_TIMEOUT = timedelta(seconds=120)
"""How long a driver may take to save."""


@transaction.atomic
def requeue(attempt: Attempt, *, since: datetime, why: Callable[[str], str], actor: str) -> bool:
    """Save, then end the driver and let the run wait for lanes again. True once the attempt is closed.

    A run without a checkpoint begins anew, as after a lost driver, but counts no lost attempt.

    Args:
        attempt: the open attempt.
        since: when the cause arose; a checkpoint from before does not count.
        why: makes the reason that users read from where the run goes on: `batch 7`, `the beginning`.
        actor: who is named in the run's history.
    """
    lock_stream(attempt.run_id)
    run = Run.objects.get(pk=attempt.run_id)
    if run.run_state not in (RunState.STARTING, RunState.RUNNING):
        # A paused run is parked by the reconciler, and one that stops frees its lanes by itself.
        return False
    if run.run_state is RunState.RUNNING and not _has_saved(run, since, actor):
        return False
    reason = why(f"batch {run.resume_batch}" if run.resume_from else "the beginning")
    if not attempts.close(run.pk, attempt.number, AttemptOutcome.MOVED, detail=reason):
        return False
    new = RunState.QUEUED if run.run_state is RunState.STARTING else RunState.STARTING
    move(run.pk, [run.run_state], new, reason=reason, actor=actor, attempt=attempt.number)
    return True


def _has_saved(run: Run, since: datetime, actor: str) -> bool:
    """Whether a checkpoint was made since then, or could not be; asks for one otherwise."""
    asked = PendingCommand.objects.filter(
        run=run, kind=CommandKind.CHECKPOINT_NOW, created_by=None, created_at__gte=since
    ).first()
    if asked is None:
        give_command(run, CommandKind.CHECKPOINT_NOW, giver=None, actor=actor)
        return False
    return asked.done_at is not None or timezone.now() - asked.created_at > CHECKPOINT_TIMEOUT
