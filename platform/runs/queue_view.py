"""The queues and the shares as a user may see them: runs of other projects are counted, never named."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from accounts.access import Actor, is_pool_admin, require_pool_admin, visible_projects
from accounts.models import Project
from fleet.fair_share import Share, entitlements
from fleet.lane_demand import kinds_wanted
from fleet.selectors import all_lanes, pool_lanes
from fleet.shares import held_lanes, scarce_kind, shares, used_lane_hours
from runs.models import Run
from runs.run_queue import current_queue
from runs.wait_reasons import why_waiting
from worker.contracts.names import Priority

SOMEBODY_ELSES = "a run of another project"


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A run that waits."""

    pool: str
    position: int | None
    """Runs of the pool that are served before it; `None` for one that its project's limit stops."""
    run_id: UUID | None
    """Empty, and so are the next ones, for a run of a project that is not the user's."""
    run_name: str
    project_id: UUID | None
    project_name: str
    priority: Priority
    lanes: Mapping[str, int]
    """Lanes that it wants, by kind."""
    since: datetime
    why: str
    """What it waits for, in one sentence."""


@dataclass(frozen=True, slots=True)
class ShareRow:
    """What a project may have of a pool, has, and used lately; in lanes that generate and train."""

    pool: str
    project_id: UUID
    project_name: str
    guaranteed_lanes: int
    max_lanes: int | None
    weight: float
    entitled_lanes: float
    """Its guarantee, and its part of what nobody is guaranteed."""
    held_lanes: int
    used_lane_hours: float
    """Of late: each hour counts half after a half-life."""
    num_waiting: int


def queue_rows(user: Actor, pool: str, changed: Mapping[UUID, Share] | None = None) -> list[QueueRow]:
    """The runs that wait for the pool, in the order in which they are served, then those that a limit stops.

    With `changed`, as it would be if these projects had these shares of it; that is for pool admins
    (`PermissionDenied`).
    """
    if changed is not None:
        require_pool_admin(user)
    queue, lanes = current_queue(pool, changed), pool_lanes(pool) or all_lanes(pool)
    sees_all = is_pool_admin(user)
    names = dict(_projects(user).values_list("pk", "name"))
    said = {} if changed is not None else why_waiting([*queue.in_turn, *queue.stopped])
    places: list[tuple[int | None, Run]] = [*enumerate(queue.in_turn), *((None, run) for run in queue.stopped)]
    rows = []
    for position, run in places:
        is_seen = sees_all or run.project_id in names
        rows.append(
            QueueRow(
                pool=pool,
                position=position,
                run_id=run.pk if is_seen else None,
                run_name=run.name if is_seen else SOMEBODY_ELSES,
                project_id=run.project_id if is_seen else None,
                project_name=names.get(run.project_id, "") if is_seen else "",
                priority=list(Priority)[run.priority],
                lanes={kind.value: number for kind, number in kinds_wanted(run.asked_lanes, lanes).items()},
                since=run.created_at,
                why=said.get(run.pk, "") if is_seen else "",
            )
        )
    return rows


def share_rows(user: Actor, pool: str) -> list[ShareRow]:
    """The shares of a pool that the user's projects have; that all have, for pool admins."""
    kind = scarce_kind(pool)
    known, held, used = shares(pool), held_lanes(pool, kind), used_lane_hours(pool, kind, timezone.now())
    everybody = {project: known.get(project, Share()) for project in Project.objects.values_list("pk", flat=True)}
    entitled = entitlements(everybody, all_lanes(pool).get(kind, 0))
    queue = current_queue(pool)
    waiting = [run.project_id for run in (*queue.in_turn, *queue.stopped)]
    return [
        ShareRow(
            pool=pool,
            project_id=project.pk,
            project_name=project.name,
            guaranteed_lanes=everybody[project.pk].guaranteed,
            max_lanes=everybody[project.pk].limit,
            weight=everybody[project.pk].weight,
            entitled_lanes=round(entitled[project.pk], 2),
            held_lanes=held.get(project.pk, 0),
            used_lane_hours=round(used.get(project.pk, 0.0), 3),
            num_waiting=waiting.count(project.pk),
        )
        for project in _projects(user).order_by("name", "pk")
    ]


def _projects(user: Actor) -> QuerySet[Project]:
    return Project.objects.all() if is_pool_admin(user) else visible_projects(user)
