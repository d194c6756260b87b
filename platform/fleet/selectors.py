"""Reads of the pool: its lanes, the free ones, and their holders."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Min, QuerySet

from fleet.lane_demand import kind_for, lane_number
from fleet.models import Lane, LaneKind, Node, NodeState
from worker.contracts.lanes import LaneGrant, LaneSpec
from worker.contracts.names import LaneRole

CPU = "cpu"
"""The device of a CPU lane."""
ROLE_ORDER = [LaneRole.ROLLOUT.value, LaneRole.TRAINER.value, LaneRole.REWARD.value]


@dataclass(frozen=True, slots=True)
class HoldingAttempt:
    """An attempt that holds lanes, even if its run has ended or was deleted."""

    run_id: UUID
    attempt: int
    since: datetime
    num_lanes: int


def pool_lanes() -> Mapping[LaneKind, int]:
    """Number of lanes by kind that can be allocated to runs, free or not."""
    return _by_kind(_usable_lanes())


def free_lanes() -> Mapping[LaneKind, int]:
    """Number of free lanes by kind."""
    return _by_kind(_usable_lanes().filter(run_id=None))


def free_in_order(kind: LaneKind, *, device: str | None = None) -> QuerySet[Lane]:
    """The free lanes of a kind, in the order in which they are allocated; with `device`, those with that accelerator,
    or the CPU lanes for `cpu`."""
    free = _usable_lanes().filter(kind=kind, run_id=None)
    if device is not None:
        of_device = Lane.objects.filter(gpus__accelerator=device) if device != CPU else Lane.objects.filter(gpus=None)
        free = free.filter(pk__in=of_device.values("pk"))
    return _in_order(free)


def free_devices(kind: LaneKind) -> dict[str, int]:
    """Number of free lanes of a kind by device."""
    return dict(Counter(_device(lane) for lane in free_in_order(kind)))


def devices_for(wanted: LaneSpec) -> tuple[str, ...]:
    """Devices of the rollout and trainer lanes that `wanted` would get now, in the order of allocation."""
    num_lanes = wanted.num_rollout + wanted.num_trainer
    kind = kind_for(LaneRole.TRAINER, pool_lanes())
    return tuple(_device(lane) for lane in free_in_order(kind)[:num_lanes])


def pool_devices(num_lanes: int) -> tuple[str, ...]:
    """Devices of the first `num_lanes` lanes that can generate or train, free or not; fewer if the pool has fewer."""
    kind = kind_for(LaneRole.TRAINER, pool_lanes())
    return tuple(_device(lane) for lane in _in_order(_usable_lanes().filter(kind=kind))[:num_lanes])


def devices_of(run_id: UUID, attempt: int) -> tuple[str, ...]:
    """Devices of the rollout and trainer lanes that the attempt holds, in the order of allocation."""
    lanes = Lane.objects.filter(run_id=run_id, attempt=attempt).exclude(role=LaneRole.REWARD.value)
    return tuple(_device(lane) for lane in _in_order(lanes))


def kinds_by_lane(run_id: UUID, attempt: int) -> dict[str, LaneKind]:
    """Kinds of the lanes that the attempt holds, by name."""
    lanes = Lane.objects.filter(run_id=run_id, attempt=attempt)
    return {lane.name_in_run: LaneKind(lane.kind) for lane in lanes}


def devices_by_lane(run_id: UUID, attempt: int) -> dict[str, str]:
    """Devices of the lanes that the attempt holds, by name, in the pool's order."""
    lanes = _in_order(Lane.objects.filter(run_id=run_id, attempt=attempt))
    return {lane.name_in_run: _device(lane) for lane in lanes}


def holders() -> list[HoldingAttempt]:
    """Attempts that hold lanes, the longest-holding first."""
    rows = (
        Lane.objects.exclude(attempt=None)
        .values("run_id", "attempt")
        .annotate(since=Min("held_since"), num_lanes=Count("pk"))
        .order_by("since")
    )
    return [
        HoldingAttempt(run_id=row["run_id"], attempt=row["attempt"], since=row["since"], num_lanes=row["num_lanes"])
        for row in rows
        if row["run_id"] is not None and row["attempt"] is not None
    ]


def grants_of(run_id: UUID, attempt: int) -> tuple[LaneGrant, ...]:
    """The lanes that the attempt holds, by role and number."""
    return tuple(grant for grant, _ in grants_with_devices(run_id, attempt))


def grants_with_devices(run_id: UUID, attempt: int) -> tuple[tuple[LaneGrant, str], ...]:
    """As `grants_of`, each with its device. Read at once, since lanes join and leave a run while it works."""
    lanes = _in_order(Lane.objects.filter(run_id=run_id, attempt=attempt))
    order = sorted(lanes, key=lambda lane: (ROLE_ORDER.index(lane.role), lane_number(lane.name_in_run)))
    return tuple((grant_of(lane), _device(lane)) for lane in order)


def grant_of_preview(preview_id: UUID) -> LaneGrant | None:
    """The lane that the preview holds."""
    lane = _in_order(Lane.objects.filter(preview_id=preview_id)).first()
    return None if lane is None else grant_of(lane)


def previews_with_lanes() -> list[UUID]:
    """Previews that hold a lane, ended or not; the longest-holding first."""
    rows = Lane.objects.exclude(preview_id=None).order_by("held_since").values_list("preview_id", flat=True)
    return [preview_id for preview_id in rows if preview_id is not None]


def grant_of(lane: Lane) -> LaneGrant:
    """A held lane as the bootstrap answer describes it."""
    gpus = lane.gpus.all()
    return LaneGrant(
        lane=lane.name_in_run,
        role=LaneRole(lane.role),
        node=lane.node.name,
        gpus=tuple(gpu.index for gpu in gpus),
        resources=tuple(gpu.resource for gpu in gpus),
        num_cpus=lane.num_cpus,
    )


def nodes_with_lanes() -> QuerySet[Node]:
    """For the pool page: every node with its lanes."""
    return Node.objects.prefetch_related("lanes__gpus__node")


def _in_order(lanes: QuerySet[Lane]) -> QuerySet[Lane]:
    """The lanes in the pool's order, each with its node and its GPUs."""
    return lanes.order_by("node__name", "index").select_related("node").prefetch_related("gpus__node")


def _device(lane: Lane) -> str:
    return CPU if lane.kind == LaneKind.CPU else lane.accelerator


def _usable_lanes() -> QuerySet[Lane]:
    return Lane.objects.filter(cordoned=False, node__state=NodeState.ACTIVE)


def _by_kind(lanes: QuerySet[Lane]) -> Mapping[LaneKind, int]:
    counts = lanes.order_by().values_list(F("kind")).annotate(Count("pk"))
    return {LaneKind(kind): count for kind, count in counts}
