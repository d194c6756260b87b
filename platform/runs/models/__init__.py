"""The rows of a run. Fields and constraints only.

Lock order everywhere: `RunStream` row, then `Run` row, then lanes.
"""

from runs.models.attempt_rows import Attempt, AttemptOutcome, PlanRevision, submission_id
from runs.models.command_rows import RESIZE_REQUESTED, RESIZE_STATES, PendingCommand, RunResize
from runs.models.log_rows import COMMAND, WEB, LogLevel, RunLogEntry
from runs.models.planning_rows import CachedPlan, MeasuredCosts
from runs.models.queue_rows import QueuePlace, RunPace
from runs.models.run_rows import (
    MAX_NAME_CHARS,
    MAX_PRESET_CHARS,
    STATE_VALUES,
    Run,
    RunStream,
    RunTransition,
)
from runs.models.stored_ranges import CLOCK, UNREADABLE, VALUES, unreadable_rows
from runs.models.sweep_rows import (
    MAX_FIELD_PATH_CHARS,
    MAX_SWEEP_NAME_CHARS,
    RungReport,
    Sweep,
    SweepPoint,
    SweepRun,
    SweepState,
)
from runs.models.view_rows import MAX_VIEW_NAME_CHARS, SavedView

__all__ = [
    "CLOCK",
    "COMMAND",
    "MAX_FIELD_PATH_CHARS",
    "MAX_NAME_CHARS",
    "MAX_PRESET_CHARS",
    "MAX_SWEEP_NAME_CHARS",
    "MAX_VIEW_NAME_CHARS",
    "RESIZE_REQUESTED",
    "RESIZE_STATES",
    "STATE_VALUES",
    "UNREADABLE",
    "VALUES",
    "WEB",
    "Attempt",
    "AttemptOutcome",
    "CachedPlan",
    "LogLevel",
    "MeasuredCosts",
    "PendingCommand",
    "PlanRevision",
    "QueuePlace",
    "Run",
    "RunLogEntry",
    "RunPace",
    "RunResize",
    "RunStream",
    "RunTransition",
    "RungReport",
    "SavedView",
    "Sweep",
    "SweepPoint",
    "SweepRun",
    "SweepState",
    "submission_id",
    "unreadable_rows",
]
