"""Shares of the pools: who may have what of each, who has it, and who used it lately.

Invariant: a use counts for the pool that its lane was allocated in, also once labels have moved the lane to another.
Until it ends, more lanes may count as held in the old pool than it has, and fewer in the new one than are held.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Q

from accounts.access import Actor, require_pool_admin
from accounts.models import Project
from audit.record import record
from fleet.fair_share import Share, decayed_lane_hours
from fleet.models import LaneKind, LaneLoan, LaneUse, Pool, ProjectShare
from fleet.selectors import all_lanes
from fleet.shares.pool_policies import policy_of
from live.publish import publish_pool

MAX_LANES = 100_000
MAX_WEIGHT = 1000.0
NUM_HALF_LIVES = 10
"""Use from longer ago counts less than a thousandth, and is left out."""


def scarce_kind(pool: str) -> LaneKind:
    """The kind of lane that shares of the pool are counted in: what generates and trains there."""
    return LaneKind.GPU if all_lanes(pool).get(LaneKind.GPU) else LaneKind.CPU


def shares(pool: str) -> dict[UUID, Share]:
    """The shares of the pool that were set, by project."""
    return {
        row.project_id: Share(guaranteed=row.guaranteed_lanes, limit=row.max_lanes, weight=row.weight)
        for row in ProjectShare.objects.filter(pool=pool)
    }


def pools_open_to(project: Project) -> list[str]:
    """Names of the pools that the project may hold lanes of, in order."""
    kept_out = ProjectShare.objects.filter(project=project, max_lanes=0)
    return list(Pool.objects.exclude(pk__in=kept_out.values("pool")).values_list("pk", flat=True))


def held_lanes(pool: str, kind: LaneKind) -> dict[UUID, int]:
    """Lanes of the kind that each project holds now, of those allocated in the pool. Those on loan are left out: who is
    entitled to them gets them back, so they stand in nobody's way."""
    rows = LaneUse.objects.filter(pool=pool, until=None, lane__kind=kind, project__isnull=False)
    rows = rows.exclude(lane__in=LaneLoan.objects.filter(until=None).values("lane"))
    return dict(rows.order_by().values_list("project_id").annotate(Count("pk")))


def used_lane_hours(pool: str, kind: LaneKind, now: datetime, half_life: float | None = None) -> dict[UUID, float]:
    """Decayed lane hours of the kind in the pool by project, see `fleet.fair_share`; `half_life` in place of the
    pool's own, in hours."""
    half_life = policy_of(pool).half_life_hours if half_life is None else half_life
    oldest = now - timedelta(hours=NUM_HALF_LIVES * half_life)
    # A use outlives its lane, and then tells its kind by its GPUs.
    of_kind = Q(gpus=[]) if kind == LaneKind.CPU else ~Q(gpus=[])
    rows = LaneUse.objects.filter(of_kind, pool=pool, project__isnull=False).filter(Q(until=None) | Q(until__gt=oldest))
    uses = (
        (project, 1.0, since.timestamp() / 3600, (until or now).timestamp() / 3600)
        for project, since, until in rows.values_list("project_id", "since", "until")
    )
    return decayed_lane_hours(uses, now.timestamp() / 3600, half_life)


@transaction.atomic
def set_share(
    *,
    user: Actor,
    project: Project,
    pool: Pool,
    guaranteed: int = 0,
    limit: int | None = None,
    weight: float = 1.0,
) -> ProjectShare:
    """Set what the project may have of the pool; a limit of 0 keeps it out.

    Raises `PermissionDenied`, `ValidationError` by field.
    """
    admin = require_pool_admin(user, {pool.pk})
    for field, value in (("guaranteed_lanes", guaranteed), ("max_lanes", limit)):
        if value is not None and not 0 <= value <= MAX_LANES:
            raise ValidationError({field: f"`{field}` must lie between 0 and {MAX_LANES}, got {value}"})
    if limit is not None and limit < guaranteed:
        raise ValidationError({"max_lanes": f"`max_lanes` must be ≥ `guaranteed_lanes` ({guaranteed}), got {limit}"})
    if not 0 <= weight <= MAX_WEIGHT:
        raise ValidationError({"weight": f"`weight` must lie between 0 and {MAX_WEIGHT:g}, got {weight}"})
    values: dict[str, Any] = {"guaranteed_lanes": guaranteed, "max_lanes": limit, "weight": weight}
    share, _ = ProjectShare.objects.update_or_create(project=project, pool=pool, defaults=values)
    record("project.set_share", project, user=admin, project_id=project.pk, pool=pool.name, **values)
    publish_pool(queue=True)
    return share
