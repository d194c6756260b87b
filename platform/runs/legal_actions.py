"""What a user may ask of a run in each state. Pure; pages and REST show it, `runs.command_services` enforces it."""

from runs.models import Run
from worker.contracts.commands import CommandKind
from worker.contracts.states import RunState

_ON_DEMAND = (CommandKind.SAMPLE_NOW, CommandKind.CHECKPOINT_NOW)
LEGAL_ACTIONS: dict[RunState, tuple[CommandKind, ...]] = {
    RunState.QUEUED: (CommandKind.CANCEL,),
    RunState.STARTING: (CommandKind.CANCEL,),
    RunState.RUNNING: (CommandKind.PAUSE, CommandKind.STOP, CommandKind.CANCEL, *_ON_DEMAND),
    RunState.PAUSED: (CommandKind.RESUME, CommandKind.STOP, CommandKind.CANCEL, *_ON_DEMAND),
    RunState.STOPPING: (CommandKind.CANCEL,),
    RunState.COMPLETED: (),
    RunState.CANCELLED: (),
    RunState.FAILED: (),
}
PARKED_ACTIONS = (CommandKind.RESUME, CommandKind.CANCEL)
"""Paused for so long that its lanes were freed: there is no driver to talk to."""


def legal_actions(run: Run) -> tuple[CommandKind, ...]:
    """The commands `run` takes now."""
    if run.run_state is RunState.STOPPING and run.ending == CommandKind.CANCEL:
        return ()
    if run.run_state is RunState.PAUSED and not run.attempts.filter(ended_at=None).exists():
        return PARKED_ACTIONS
    return LEGAL_ACTIONS[run.run_state]
