"""Takes lanes from projects that have spent what they may, where their budget says so.

Invariant: nothing is lost: each run saves first, and goes on from there once its project may spend again.
"""

from fleet.models import ProjectBudget
from fleet.shares.spending import BUDGETS, projects_to_stop
from runs.attempts.requeue import requeue
from runs.models import Attempt


def stop_spent_projects() -> int:
    """Take the next step for each run of such a project; returns the number of runs that were ended."""
    projects = projects_to_stop()
    if not projects:
        return 0
    spent_at = dict(ProjectBudget.objects.filter(pk__in=projects).values_list("pk", "spent_at"))
    attempts = Attempt.objects.filter(ended_at=None, run__project__in=projects).select_related("run")
    return sum(
        requeue(
            attempt,
            since=spent_at[attempt.run.project_id] or attempt.created_at,
            why=lambda origin: f"the project's budget is spent: the run goes on from {origin} once there is a new one",
            actor=BUDGETS,
        )
        for attempt in attempts
    )
