"""Shares of the pool: who may have what, who has it, and who used it lately."""

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
from fleet.models import LaneKind, LaneLoan, LaneUse, PoolPolicy, ProjectShare
from fleet.selectors import all_lanes

MAX_LANES = 100_000
MAX_WEIGHT = 1000.0
MAX_HALF_LIFE_HOURS = 24.0 * 365
NUM_HALF_LIVES = 10
"""Use from longer ago counts less than a thousandth, and is left out."""


def scarce_kind() -> LaneKind:
    """The kind of lane that shares are counted in: what generates and trains."""
    return LaneKind.GPU if all_lanes().get(LaneKind.GPU) else LaneKind.CPU


def shares() -> dict[UUID, Share]:
    """The shares that were set."""
    return {
        row.project_id: Share(guaranteed=row.guaranteed_lanes, limit=row.max_lanes, weight=row.weight)
        for row in ProjectShare.objects.all()
    }


def half_life_hours() -> float:
    policy = PoolPolicy.objects.first() or PoolPolicy()
    return policy.half_life_hours


def reclaim_seconds() -> float:
    """Seconds in which a lane that is asked back may finish its fragment."""
    policy = PoolPolicy.objects.first() or PoolPolicy()
    return policy.reclaim_seconds


def held_lanes(kind: LaneKind) -> dict[UUID, int]:
    """Lanes of the kind that each project holds now. Those on loan are left out: who is entitled to them gets them
    back, so they stand in nobody's way."""
    rows = LaneUse.objects.filter(until=None, lane__kind=kind, project__isnull=False)
    rows = rows.exclude(lane__in=LaneLoan.objects.filter(until=None).values("lane"))
    return dict(rows.order_by().values_list("project_id").annotate(Count("pk")))


def used_lane_hours(kind: LaneKind, now: datetime) -> dict[UUID, float]:
    """Decayed lane hours of the kind by project, see `fleet.fair_share`."""
    half_life = half_life_hours()
    oldest = now - timedelta(hours=NUM_HALF_LIVES * half_life)
    # A use outlives its lane, and then tells its kind by its GPUs.
    of_kind = Q(gpus=[]) if kind == LaneKind.CPU else ~Q(gpus=[])
    rows = LaneUse.objects.filter(of_kind, project__isnull=False).filter(Q(until=None) | Q(until__gt=oldest))
    uses = (
        (project, 1.0, since.timestamp() / 3600, (until or now).timestamp() / 3600)
        for project, since, until in rows.values_list("project_id", "since", "until")
    )
    return decayed_lane_hours(uses, now.timestamp() / 3600, half_life)


@transaction.atomic
def set_share(
    *, user: Actor, project: Project, guaranteed: int = 0, limit: int | None = None, weight: float = 1.0
) -> ProjectShare:
    """Raises `PermissionDenied`, `ValidationError` by field."""
    admin = require_pool_admin(user)
    for field, value in (("guaranteed_lanes", guaranteed), ("max_lanes", limit)):
        if value is not None and not 0 <= value <= MAX_LANES:
            raise ValidationError({field: f"`{field}` must lie between 0 and {MAX_LANES}, got {value}"})
    if limit is not None and limit < guaranteed:
        raise ValidationError({"max_lanes": f"`max_lanes` must be ≥ `guaranteed_lanes` ({guaranteed}), got {limit}"})
    if not 0 <= weight <= MAX_WEIGHT:
        raise ValidationError({"weight": f"`weight` must lie between 0 and {MAX_WEIGHT:g}, got {weight}"})
    values: dict[str, Any] = {"guaranteed_lanes": guaranteed, "max_lanes": limit, "weight": weight}
    share, _ = ProjectShare.objects.update_or_create(project=project, defaults=values)
    record("project.set_share", project, user=admin, project_id=project.pk, **values)
    return share


@transaction.atomic
def set_half_life(*, user: Actor, hours: float) -> PoolPolicy:
    """Raises `PermissionDenied`, `ValidationError`."""
    admin = require_pool_admin(user)
    if not 0 < hours <= MAX_HALF_LIFE_HOURS:
        raise ValidationError(
            {"half_life_hours": f"`half_life_hours` must be > 0 and ≤ {MAX_HALF_LIFE_HOURS:g} (a year), got {hours}"}
        )
    policy, _ = PoolPolicy.objects.update_or_create(pk=1, defaults={"half_life_hours": hours})
    record("pool.set_policy", policy, user=admin, half_life_hours=hours)
    return policy
