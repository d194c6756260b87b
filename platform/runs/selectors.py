"""Reads of runs, for those who may see them. Outsiders get `NotVisible`, a 404."""

from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.access import Actor, NotVisible, visible_projects
from runs.models import Attempt, PendingCommand, PlanRevision, Run, RunTransition, SavedView
from runs.planning.plan_body import PlanBody, PlanStep, RevisedPlan
from runs.run_body import RunBody, run_body
from runs.run_lines import run_line


def visible_runs(user: Actor) -> QuerySet[Run]:
    """Every run of the user's projects, newest first. The prompts, which can be large, are loaded only when read; lists
    read columns alone (`runs.run_lines`)."""
    rows = Run.objects.filter(project__in=visible_projects(user))
    return rows.select_related("project", "created_by", "sweep_place__point__sweep").defer(*NOT_LOADED)


NOT_LOADED = ("prompts", "sweep_place__point__values", "sweep_place__point__sweep__plan")
"""What can be large, and is read of single runs alone."""


def get_run(user: Actor, run_id: UUID | str) -> Run:
    """The run of that id. Raises `NotVisible` for outsiders and for unknown ids."""
    found = visible_runs(user).filter(pk=_uuid(run_id, "run")).first()
    if found is None:
        raise NotVisible("no such run")
    return found


def run_body_for(user: Actor, run: Run) -> RunBody:
    """The run as `user` sees it: the body of REST and of the socket's snapshot."""
    return run_body(run, run_line(user, run))


def transitions(user: Actor, run: Run) -> QuerySet[RunTransition]:
    return RunTransition.objects.filter(run=get_run(user, run.pk))


def attempts_of(user: Actor, run: Run) -> QuerySet[Attempt]:
    return Attempt.objects.filter(run=get_run(user, run.pk))


def commands_of(user: Actor, run: Run) -> QuerySet[PendingCommand]:
    """Newest first."""
    return PendingCommand.objects.filter(run=get_run(user, run.pk)).select_related("created_by").order_by("-created_at")


def plan_of(user: Actor, run: Run) -> RevisedPlan | None:
    """The newest plan of the run; None if the user chose placement, and before lanes are allocated."""
    newest = get_run(user, run.pk).plan_revisions.select_related("attempt").last()
    if newest is None:
        return None
    plan: PlanBody = newest.plan
    return {
        **plan,
        "attempt": newest.attempt.number,
        "revision": newest.number,
        "since_batch": newest.since_batch,
        "reason": newest.reason,
    }


def plan_steps(user: Actor, run: Run) -> list[PlanStep]:
    """All plans that the run has worked by, the oldest first."""
    revisions = get_run(user, run.pk).plan_revisions.select_related("attempt")
    return [_plan_step(revision) for revision in revisions]


def _plan_step(revision: PlanRevision) -> PlanStep:
    chosen = revision.plan["by_mode"][revision.plan["mode"]]
    return {
        "attempt": revision.attempt.number,
        "revision": revision.number,
        "since_batch": revision.since_batch,
        "reason": revision.reason,
        "num_rollout": chosen["num_rollout"],
        "num_trainer": chosen["num_trainer"],
        "batch_seconds": chosen["batch_seconds"],
        "promise": revision.promise,
    }


def _uuid(value: UUID | str, what: str) -> UUID:
    try:
        return UUID(str(value))
    except ValueError as error:
        raise NotVisible(f"no such {what}") from error


def visible_views(user: Actor) -> QuerySet[SavedView]:
    """The user's own, and those shared with the user's projects, by name."""
    if not user.is_authenticated:
        return SavedView.objects.none()
    own = Q(user_id=user.pk, project=None)
    return SavedView.objects.filter(own | Q(project__in=visible_projects(user))).select_related("user", "project")


def get_view(user: Actor, view_id: UUID) -> SavedView:
    """Raises `NotVisible` for views of others that are not shared, and for ids that name nothing."""
    found = visible_views(user).filter(pk=view_id).first()
    if found is None:
        raise NotVisible("no such view")
    return found
