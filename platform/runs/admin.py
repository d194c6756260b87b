"""Runs and what belongs to them in Django's admin, to be read by administrators of the installation."""

from audit.read_only_admin import register
from runs.models import Attempt, PendingCommand, PlanRevision, Run, RunResize, RunTransition

register(
    {
        Run: ("name", "project", "created_by", "state", "attempt", "num_batches_done", "created_at"),
        Attempt: ("run", "number", "outcome", "created_at", "ended_at"),
        RunTransition: ("at", "run", "old", "new", "actor", "reason"),
        PendingCommand: ("created_at", "run", "kind", "created_by", "done_at", "accepted"),
        PlanRevision: ("created_at", "run", "number", "since_batch", "reason"),
        RunResize: ("created_at", "run", "cause", "state", "ended_at"),
    }
)
