"""What projects may have of a pool, have, and used lately, as a user may see it."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from accounts.access import Actor
from accounts.models import Project
from fleet.fair_share import Share, entitlements
from fleet.selectors import all_lanes
from fleet.shares.shares import held_lanes, scarce_kind, shares, used_lane_hours
from runs.queue.queue_board import project_names
from runs.run_queue import current_queue


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


def share_rows(user: Actor, pool: str) -> list[ShareRow]:
    """The shares of a pool that the user's projects have; that all have, for pool admins."""
    kind = scarce_kind(pool)
    known, held, used = shares(pool), held_lanes(pool, kind), used_lane_hours(pool, kind, timezone.now())
    everybody = {project: known.get(project, Share()) for project in Project.objects.values_list("pk", flat=True)}
    entitled = entitlements(everybody, all_lanes(pool).get(kind, 0))
    queue = current_queue(pool)
    waiting = Counter(run.project_id for run in queue.order)
    return [
        ShareRow(
            pool=pool,
            project_id=project,
            project_name=name,
            guaranteed_lanes=everybody[project].guaranteed,
            max_lanes=everybody[project].limit,
            weight=everybody[project].weight,
            entitled_lanes=round(entitled[project], 2),
            held_lanes=held.get(project, 0),
            used_lane_hours=round(used.get(project, 0.0), 3),
            num_waiting=waiting[project],
        )
        for project, name in sorted(project_names(user).items(), key=lambda item: (item[1], str(item[0])))
    ]
