"""Run states and the one table of legal moves. `runs.transitions` is its only user that writes."""

from enum import StrEnum


class RunState(StrEnum):
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    COMPLETED = "completed"
    """All batches are done."""
    STOPPED = "stopped"
    """A user ended it before its last batch; it can be resumed from the checkpoint that it left."""
    CANCELLED = "cancelled"
    """A user ended it at once, or before there was a checkpoint."""
    FAILED = "failed"


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
"""States of a run that has ended: no driver, no lanes, nothing more happens by itself."""
LIVE_STATES = frozenset({RunState.STARTING, RunState.RUNNING, RunState.PAUSED, RunState.STOPPING})
"""States in which a run may hold lanes."""


def is_legal(old: RunState, new: RunState) -> bool:
    return new in LEGAL_MOVES[old]
