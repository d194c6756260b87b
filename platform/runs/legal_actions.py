"""The commands that are legal in each state of a run. Pure; pages and REST show them, `runs.command_services` enforces
them."""

from runs.models import Run
from worker.contracts.commands import CommandKind
from worker.contracts.states import RunState

_ON_DEMAND = (CommandKind.SAMPLE_NOW, CommandKind.CHECKPOINT_NOW, CommandKind.RESIZE)
LEGAL_ACTIONS: dict[RunState, tuple[CommandKind, ...]] = {
    RunState.QUEUED: (CommandKind.CANCEL,),
    RunState.STARTING: (CommandKind.CANCEL,),
    RunState.RUNNING: (CommandKind.PAUSE, CommandKind.STOP, CommandKind.CANCEL, *_ON_DEMAND),
    RunState.PAUSED: (CommandKind.RESUME, CommandKind.STOP, CommandKind.CANCEL, *_ON_DEMAND),
    RunState.STOPPING: (CommandKind.CANCEL,),
    RunState.COMPLETED: (),
    RunState.STOPPED: (CommandKind.RESUME,),
    RunState.CANCELLED: (),
    RunState.FAILED: (),
}
PARKED_ACTIONS = (CommandKind.RESUME, CommandKind.STOP, CommandKind.CANCEL)
"""Whether the run was paused for so long that its lanes were released, so that it has no driver."""
_WAITING_STATES = (RunState.QUEUED, RunState.STARTING)


def legal_actions(run: Run) -> tuple[CommandKind, ...]:
    """The commands that are legal for `run` now."""
    if run.run_state is RunState.STOPPING and run.ending == CommandKind.CANCEL:
        return ()
    if run.run_state in _WAITING_STATES and run.resume_from:
        # It would resume from a checkpoint, so it can be stopped there again.
        return (CommandKind.STOP, CommandKind.CANCEL)
    if run.run_state is RunState.PAUSED and not run.attempts.filter(ended_at=None).exists():
        return PARKED_ACTIONS
    return LEGAL_ACTIONS[run.run_state]
