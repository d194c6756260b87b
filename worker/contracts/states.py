"""Run states with the table of legal moves, and the phases of a driver. Only `runs.transitions` writes a state."""

from enum import StrEnum


class RunState(StrEnum):
    """The states of a run."""

    QUEUED = "queued"
    """The run waits for lanes."""
    STARTING = "starting"
    """The run has lanes, and its driver is being started."""
    RUNNING = "running"
    """The driver works on batches."""
    PAUSED = "paused"
    """The driver waits between two batches, with the lanes held."""
    STOPPING = "stopping"
    """The driver ends the run on a user's command."""
    COMPLETED = "completed"
    """All batches are done."""
    STOPPED = "stopped"
    """A user ended it before its last batch; it can be resumed from the checkpoint that it left."""
    CANCELLED = "cancelled"
    """A user ended it at once, or before there was a checkpoint."""
    FAILED = "failed"
    """An error, or too many lost attempts, ended it."""


LEGAL_MOVES: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset({RunState.STARTING, RunState.STOPPED, RunState.CANCELLED}),
    RunState.STARTING: frozenset({RunState.RUNNING, RunState.STOPPING, RunState.FAILED, RunState.QUEUED}),
    RunState.RUNNING: frozenset(
        {RunState.PAUSED, RunState.STOPPING, RunState.COMPLETED, RunState.FAILED, RunState.STARTING}
    ),
    RunState.PAUSED: frozenset(
        {RunState.RUNNING, RunState.STOPPING, RunState.QUEUED, RunState.FAILED, RunState.STARTING}
    ),
    RunState.STOPPING: frozenset({RunState.COMPLETED, RunState.STOPPED, RunState.CANCELLED, RunState.FAILED}),
    RunState.COMPLETED: frozenset(),
    RunState.STOPPED: frozenset({RunState.QUEUED}),
    RunState.CANCELLED: frozenset(),
    RunState.FAILED: frozenset(),
}

END_STATES = frozenset({RunState.COMPLETED, RunState.STOPPED, RunState.CANCELLED, RunState.FAILED})
"""States of a run that has ended: it has no driver and no lanes, and changes only if a user resumes it."""


def is_legal(old: RunState, new: RunState) -> bool:
    """Whether a run may change from `old` to `new`."""
    return new in LEGAL_MOVES[old]


class Phase(StrEnum):
    """What the driver is doing: the run page shows it, and names the phase in which a run failed."""

    BOOTSTRAP = "bootstrap"
    PLACE_LANES = "place_lanes"
    LOAD_MODEL = "load_model"
    RESTORE = "restore"
    EVALUATE = "evaluate"
    TRAIN = "train"
    CHECKPOINT = "checkpoint"
    EXPORT = "export"
    FINISH = "finish"
