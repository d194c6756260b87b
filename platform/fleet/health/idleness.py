"""Which GPUs are held by a run and do nothing, and for how long: read from the utilisation that their driver reports.

Invariant: only time in which the same run held the GPU counts, and a card that tells no utilisation is never called
idle. A run's GPU waits seconds or minutes between two pieces of work; what is warned of here is a policy's half hour.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, F, OuterRef

from fleet.models import Gpu, Lane, PoolPolicy

IDLE_UTILISATION = 0.05
"""Up to this share of a sampling period a kernel may have run: monitoring and idle processes show some."""
FIELDS = ("held_for", "idle_since", "longest_idle_seconds")
"""The columns that `follow_use` writes into a row without storing it."""


def holds() -> dict[int, datetime]:
    """Since when runs have held lanes with GPUs, by the lane's key."""
    lanes = Lane.objects.filter(gpus__isnull=False, run_id__isnull=False, held_since__isnull=False)
    return {key: since for key, since in lanes.values_list("pk", "held_since") if since is not None}


def follow_use(row: Gpu, utilisation: float | None, held_since: datetime | None, now: datetime) -> None:
    """Write what one report says of the GPU's use into its row; the caller stores it."""
    if row.held_for != held_since:
        row.held_for, row.idle_since, row.longest_idle_seconds = held_since, None, 0.0
    if held_since is None or utilisation is None:
        return
    if utilisation <= IDLE_UTILISATION:
        row.idle_since = row.idle_since or now
    elif row.idle_since is not None:
        row.longest_idle_seconds = max(row.longest_idle_seconds, (now - row.idle_since).total_seconds())
        row.idle_since = None


@dataclass(frozen=True, slots=True)
class IdleGpu:
    """A GPU that a run has held for longer than its pool's policy lets pass without a word."""

    uuid: str
    run_id: UUID
    attempt: int
    lane: str
    """The lane's id in the run."""
    since: datetime
    release_at: datetime | None
    """When the policy releases it; `None` for never."""


def idle_gpus(now: datetime, run_ids: set[UUID] | None = None) -> list[IdleGpu]:
    """Those GPUs, of these runs or of all; the longest idle first. Of a lane of several the first one counts, on which
    its process computes."""
    before = Gpu.objects.filter(lane=OuterRef("lane"), index__lt=OuterRef("index"))
    rows = Gpu.objects.filter(idle_since__isnull=False, lane__attempt__isnull=False, lane__held_since=F("held_for"))
    rows = rows.exclude(Exists(before))
    if run_ids is not None:
        rows = rows.filter(lane__run_id__in=run_ids)
    # Columns alone: every page of runs asks, and a GPU with its lane and node has a hundred.
    told = ("uuid", "lane__run_id", "lane__attempt", "lane__name_in_run", "idle_since", "lane__pool_id")
    idle = list(rows.order_by("idle_since", "pk").values_list(*told))
    if not idle:
        return []
    policies = {policy.pool_id: policy for policy in PoolPolicy.objects.all()}
    found = []
    for uuid, run_id, attempt, lane, since, pool in idle:
        assert run_id is not None and attempt is not None and since is not None and pool is not None
        policy = policies.get(pool) or PoolPolicy(pool_id=pool)
        if now - since >= timedelta(minutes=policy.idle_warning_minutes):
            minutes = policy.idle_release_minutes
            release_at = None if minutes is None else since + timedelta(minutes=minutes)
            found.append(IdleGpu(uuid, run_id, attempt, lane, since, release_at))
    return found


def by_run(idle: list[IdleGpu]) -> Mapping[tuple[UUID, int], list[IdleGpu]]:
    """By run and attempt."""
    found: dict[tuple[UUID, int], list[IdleGpu]] = {}
    for gpu in idle:
        found.setdefault((gpu.run_id, gpu.attempt), []).append(gpu)
    return found
