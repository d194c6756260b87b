"""Run states and the one table of legal moves. `runs.transitions` is its only user that writes."""

from enum import StrEnum


class RunState(StrEnum):
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


LEGAL_MOVES: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset({RunState.STARTING, RunState.CANCELLED}),
    RunState.STARTING: frozenset({RunState.RUNNING, RunState.STOPPING, RunState.FAILED, RunState.QUEUED}),
    RunState.RUNNING: frozenset(
        {RunState.PAUSED, RunState.STOPPING, RunState.COMPLETED, RunState.FAILED, RunState.STARTING}
    ),
    RunState.PAUSED: frozenset(
        {RunState.RUNNING, RunState.STOPPING, RunState.QUEUED, RunState.FAILED, RunState.STARTING}
    ),
    RunState.STOPPING: frozenset({RunState.COMPLETED, RunState.CANCELLED, RunState.FAILED}),
    RunState.COMPLETED: frozenset(),
    RunState.CANCELLED: frozenset(),
    RunState.FAILED: frozenset(),
}

TERMINAL_STATES = frozenset(state for state, moves in LEGAL_MOVES.items() if not moves)
LIVE_STATES = frozenset({RunState.STARTING, RunState.RUNNING, RunState.PAUSED, RunState.STOPPING})
"""States in which a run may hold lanes."""


def is_legal(old: RunState, new: RunState) -> bool:
    return new in LEGAL_MOVES[old]
