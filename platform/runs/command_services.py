"""Commands from users to runs: queued for the driver if there is one, else carried out here immediately.

Invariant: a command never leaves a run waiting for a driver that does not exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from pydantic import ValidationError as ContractError

from accounts.access import TO_CONTROL_RUNS, require_role
from accounts.models import User
from audit.record import record
from runs.attempts import attempts
from runs.enqueue import enqueue_on_commit
from runs.legal_actions import legal_actions
from runs.models import Attempt, AttemptOutcome, PendingCommand, Run
from runs.pool.pool_removal import require_pool
from runs.run_log import give_command
from runs.stream import lock_stream
from runs.transitions import RunStateConflict, move
from worker.contracts.commands import CommandKind, RunCommand
from worker.contracts.error_sentences import error_sentences
from worker.contracts.states import RunState
from worker.contracts.task_names import DISPATCH_RUNS, STOP_JOB

REQUESTED = "asked for by {user}"


@dataclass(frozen=True, slots=True)
class _Request:
    """A command being handled: the run as read under the stream lock, and its open attempt."""

    giver: User | None
    """None: a part of Tandem, which `actor` names."""
    actor: str
    reason: str
    run: Run
    kind: CommandKind
    prompts: tuple[str, ...]
    attempt: Attempt | None

    @property
    def has_driver(self) -> bool:
        """Whether a driver has bootstrapped, so that it receives commands."""
        return self.attempt is not None and self.attempt.bootstrap_used_at is not None


@transaction.atomic
def request_command(*, user: User, run: Run, kind: CommandKind | str, prompts: Sequence[str] = ()) -> PendingCommand:
    """Send a command to the run. Raises `RunStateConflict`, which lists the legal commands, and `ValidationError`."""
    require_role(user, run.project, TO_CONTROL_RUNS)
    lock_stream(run.pk)
    current = Run.objects.get(pk=run.pk)
    wanted = _checked(kind, prompts)
    possible = legal_actions(current)
    if wanted not in possible:
        raise RunStateConflict(wanted, current.run_state, possible)
    reason = REQUESTED.format(user=user.username)
    attempt = attempts.open_attempt(run.pk)
    request = _Request(user, user.username, reason, current, wanted, tuple(prompts), attempt)
    command = _carry_out(request)
    record(
        f"run.{wanted}",
        current,
        user=user,
        project_id=run.project_id,
        prompts=list(prompts),
        command=str(command.pk),
    )
    return command


@transaction.atomic
def stop_run_for(run: Run, *, actor: str, reason: str) -> bool:
    """Stop a run for a part of Tandem: with a checkpoint where it has begun, else at once. Whether there was anything
    to stop: a run that has ended, or ends already, is left alone."""
    lock_stream(run.pk)
    current = Run.objects.get(pk=run.pk)
    possible = legal_actions(current)
    if current.run_state is RunState.STOPPING or not {CommandKind.STOP, CommandKind.CANCEL} & set(possible):
        return False
    kind = CommandKind.STOP if CommandKind.STOP in possible else CommandKind.CANCEL
    _end(_Request(None, actor, reason, current, kind, (), attempts.open_attempt(run.pk)))
    return True


def _carry_out(request: _Request) -> PendingCommand:
    if request.kind in (CommandKind.STOP, CommandKind.CANCEL):
        return _end(request)
    if request.kind is CommandKind.RESUME and (request.run.has_ended or not request.has_driver):
        return _queue_again(request)
    return _pending(request)


def _queue_again(request: _Request) -> PendingCommand:
    """Queue a parked or stopped run, which resumes from its checkpoint once it has lanes."""
    require_pool(request.run.pool, "action")
    changes = {"ending": "", "ending_at": None, "archived_at": None}
    move(
        request.run.pk,
        [request.run.run_state],
        RunState.QUEUED,
        reason=request.reason,
        actor=request.actor,
        changes=changes,
    )
    enqueue_on_commit(DISPATCH_RUNS)
    return _done(request, "queued for lanes again")


def _end(request: _Request) -> PendingCommand:
    run, actor = request.run, request.actor
    changes = {"ending": request.kind.value, "ending_at": timezone.now()}
    reason = f"{request.kind} {request.reason}"
    end = RunState.STOPPED if request.kind is CommandKind.STOP and run.resume_from else RunState.CANCELLED
    if run.run_state is RunState.QUEUED:
        move(run.pk, [RunState.QUEUED], end, reason=reason, actor=actor, changes=changes)
        return _done(request, "it had no lanes")
    if run.run_state is RunState.STOPPING:
        Run.objects.filter(pk=run.pk).update(**changes)
    else:
        move(run.pk, [run.run_state], RunState.STOPPING, reason=reason, actor=actor, changes=changes)
    if request.has_driver:
        return _pending(request)
    if request.attempt is not None:
        attempts.close(run.pk, request.attempt.number, AttemptOutcome.CLOSED, detail=reason)
        enqueue_on_commit(STOP_JOB, str(run.pk), request.attempt.number)
    move(run.pk, [RunState.STOPPING], end, reason=reason, actor=actor)
    return _done(request, "no driver was up")


def _pending(request: _Request) -> PendingCommand:
    return give_command(
        request.run, request.kind, giver=request.giver, actor=request.actor, prompts=list(request.prompts)
    )


def _done(request: _Request, what: str) -> PendingCommand:
    detail = f"done by the web: {what}"
    return give_command(
        request.run,
        request.kind,
        giver=request.giver,
        actor=request.actor,
        prompts=list(request.prompts),
        detail=detail,
        done=True,
    )


def _checked(kind: CommandKind | str, prompts: Sequence[str]) -> CommandKind:
    try:
        command = RunCommand.model_validate({"id": "new", "kind": kind, "prompts": tuple(prompts)})
    except ContractError as error:
        found = error_sentences(error)
        raise ValidationError(
            {"action" if path in ("kind", "") else path: said for path, said in found.items()}
        ) from error
    if prompts and command.kind is not CommandKind.SAMPLE_NOW:
        raise ValidationError({"prompts": f"`prompts` belong to `sample_now`, got the action `{command.kind}`"})
    return command.kind
