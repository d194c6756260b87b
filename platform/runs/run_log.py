"""What the web adds to a run's log: changes of state, and commands with who gave them. Telemetry adds the rest."""

from uuid import UUID

from django.utils import timezone

from accounts.models import User
from live.publish import publish_run
from runs.models import COMMAND, WEB, LogLevel, PendingCommand, Run, RunLogEntry, RunTransition
from runs.run_body import command_item
from runs.stream import next_stream_seqs
from worker.contracts.commands import CommandKind
from worker.contracts.states import RunState

COMMAND_WORDS = {
    CommandKind.PAUSE: "Pause",
    CommandKind.RESUME: "Resume",
    CommandKind.STOP: "Stop",
    CommandKind.CANCEL: "Cancel",
    CommandKind.SAMPLE_NOW: "Sample now",
    CommandKind.CHECKPOINT_NOW: "Checkpoint now",
    CommandKind.RESIZE: "Resize",
}


def log_transition(transition: RunTransition) -> None:
    """Log a change of state, inside the transaction that made it."""
    reason = f": {transition.reason}" if transition.reason else ""
    by = f" (by {transition.actor})" if transition.actor else ""
    RunLogEntry.objects.create(
        run_id=transition.run_id,
        stream_seq=transition.stream_seq,
        attempt=transition.attempt,
        at=transition.at.timestamp(),
        type="transition",
        # What a driver reports of its failure is an error itself, with the traceback.
        level=LogLevel.ERROR if transition.new == RunState.FAILED and transition.actor != "driver" else LogLevel.INFO,
        source=WEB,
        text=f"{transition.old or 'created'} → {transition.new}{reason}{by}",
    )


def give_command(
    run: Run,
    kind: CommandKind,
    *,
    giver: User | None,
    actor: str = "",
    pk: UUID | None = None,
    detail: str = "",
    done: bool = False,
    **args: object,
) -> PendingCommand:
    """Store a command, and tell in the run's log who gave it.

    Args:
        run: the run, whose stream the transaction has locked.
        kind: what is asked.
        giver: who gave it; None where Tandem itself did, which `actor` then names.
        actor: the part of Tandem that gave it.
        pk: the command's id; a new one where it is None.
        detail: what the web has done.
        done: whether the web has carried it out, so that no driver need.
        args: what the command needs, as `RunCommand` has it.
    """
    now = timezone.now()
    given = {"pk": pk} if pk else {}
    ended = {"done_at": now, "accepted": True, "detail": detail} if done else {}
    command = PendingCommand.objects.create(
        run=run, kind=kind.value, args=args, created_by=giver, created_at=now, **given, **ended
    )
    by = giver.username if giver is not None else actor
    entry = RunLogEntry.objects.create(
        run=run,
        stream_seq=next_stream_seqs(run.pk, 1)[0],
        attempt=run.attempt,
        at=now.timestamp(),
        type=COMMAND,
        level=LogLevel.INFO,
        source=WEB,
        text=f"{COMMAND_WORDS[kind]}, asked for by {by}{f': {detail}' if detail else ''}",
    )
    publish_run(run.pk, [command_item(entry)])
    return command
