"""The commands that are legal in each state of a run. Pages and REST show them, `runs.command_services` enforces
them."""

from collections.abc import Iterable
from uuid import UUID

from runs.models import Attempt, Run
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
    is_parked = run.run_state is RunState.PAUSED and run.pk in parked([run.pk])
    return actions_in(run.run_state, ending=run.ending, resume_from=run.resume_from, is_parked=is_parked)


def actions_in(state: RunState, *, ending: str, resume_from: str, is_parked: bool) -> tuple[CommandKind, ...]:
    """The commands that are legal in a state; the rest are columns of the run, and whether it is `parked`."""
    if state is RunState.STOPPING and ending == CommandKind.CANCEL:
        return ()
    if state in _WAITING_STATES and resume_from:
        # It would resume from a checkpoint, so it can be stopped there again.
        return (CommandKind.STOP, CommandKind.CANCEL)
    return PARKED_ACTIONS if is_parked else LEGAL_ACTIONS[state]


def parked(paused: Iterable[UUID]) -> set[UUID]:
    """Those of the paused runs whose lanes were released: they have no driver."""
    ids = set(paused)
    return (
        ids - set(Attempt.objects.filter(run__in=ids, ended_at=None).values_list("run_id", flat=True)) if ids else ids
    )
