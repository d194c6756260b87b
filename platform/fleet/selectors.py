"""Reads of the pool: its lanes, the free ones, and their holders."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import Count, F, Min, Prefetch, Q, QuerySet

from fleet.lane_demand import kind_for, lane_number
from fleet.lane_layout import NOT_OFFERED
from fleet.models import Gpu, Lane, LaneKind, Node, NodeAgent, Pool, ServiceState, StateChange
from worker.contracts.lanes import DEFAULT_POOL, LaneGrant, LaneSpec
from worker.contracts.names import LaneRole
from worker.contracts.node_reports import Vendor

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


def pool_lanes(pool: str | None = None) -> Mapping[LaneKind, int]:
    """Number of lanes of a pool, or of all, by kind that can be allocated to runs, free or not."""
    return _by_kind(_usable_lanes(pool))


def all_lanes(pool: str | None = None) -> Mapping[LaneKind, int]:
    """Number of lanes of a pool, or of all, by kind, whether they take work or not; without those that their node does
    not offer any more."""
    return _by_kind(_of_pool(Lane.objects.exclude(reason=NOT_OFFERED), pool))


def free_lanes(pool: str | None = None) -> Mapping[LaneKind, int]:
    """Number of free lanes of a pool, or of all, by kind."""
    return _by_kind(_usable_lanes(pool).filter(held_since=None))


def pool_or_default(name: str) -> str:
    """The name, or that of the default pool where this one has been removed."""
    return name if Pool.objects.filter(pk=name).exists() else DEFAULT_POOL


def free_in_order(kind: LaneKind, *, pool: str | None, device: str | None = None) -> QuerySet[Lane]:
    """The free lanes of a kind in a pool, or in all, in the order of allocation; with `device`, those with that
    accelerator, or the CPU lanes for `cpu`."""
    free = _usable_lanes(pool).filter(kind=kind, held_since=None)
    if device is not None:
        of_device = Lane.objects.filter(gpus__accelerator=device) if device != CPU else Lane.objects.filter(gpus=None)
        free = free.filter(pk__in=of_device.values("pk"))
    return _in_order(free)


def free_devices(kind: LaneKind, pool: str) -> dict[str, int]:
    """Number of free lanes of a kind in a pool, by device."""
    return dict(Counter(_device(lane) for lane in free_in_order(kind, pool=pool)))


def devices_for(wanted: LaneSpec) -> tuple[str, ...]:
    """Devices of the rollout and trainer lanes that `wanted` would get now, in the order of allocation."""
    num_lanes = wanted.num_rollout + wanted.num_trainer
    kind = kind_for(LaneRole.TRAINER, pool_lanes(wanted.pool))
    return tuple(_device(lane) for lane in free_in_order(kind, pool=wanted.pool)[:num_lanes])


def pool_devices(pool: str, num_lanes: int) -> tuple[str, ...]:
    """Devices of the first `num_lanes` lanes that can generate or train, free or not; fewer if the pool has fewer."""
    kind = kind_for(LaneRole.TRAINER, pool_lanes(pool))
    return tuple(_device(lane) for lane in _in_order(_usable_lanes(pool).filter(kind=kind))[:num_lanes])


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
    return _grant(lane, lane.gpus.all())


def grant_of_gpu(gpu: Gpu) -> LaneGrant:
    """One GPU of a held lane, likewise."""
    assert gpu.lane is not None
    return _grant(gpu.lane, [gpu])


def gpu_tests_with_lanes() -> list[UUID]:
    """Tests of GPUs that hold lanes, ended or not."""
    rows = Lane.objects.exclude(test_id=None).order_by("test_id").values_list("test_id", flat=True).distinct()
    return [test_id for test_id in rows if test_id is not None]


def _grant(lane: Lane, gpus: Iterable[Gpu]) -> LaneGrant:
    gpus = list(gpus)
    # Libraries of other vendors take indices only.
    by_uuid = all(gpu.identity.get("vendor") == Vendor.NVIDIA for gpu in gpus)
    return LaneGrant(
        lane=lane.name_in_run,
        role=LaneRole(lane.role),
        node=lane.node.name,
        gpus=tuple(gpu.index for gpu in gpus),
        ray_node_id=lane.node.ray_node_id,
        uuids=tuple(gpu.uuid for gpu in gpus) if by_uuid else (),
        resources=tuple(gpu.resource for gpu in gpus if gpu.resource),
        num_cpus=lane.num_cpus,
    )


def lanes_with_places(pool: str | None = None) -> QuerySet[Lane]:
    """Every lane of a pool, or of all, with its node and GPUs, in the order of allocation; without those that their
    node does not offer any more."""
    return _in_order(_of_pool(Lane.objects.exclude(reason=NOT_OFFERED), pool))


def head_address() -> str:
    """`HOST:PORT` by which further machines join the cluster; empty while nobody has told."""
    newest = NodeAgent.objects.exclude(head_address="").first()
    return settings.RAY_HEAD or (newest.head_address if newest else "")


def nodes_with_lanes(ids: Collection[int] | None = None) -> QuerySet[Node]:
    """For the pool page: every node, or those of `ids`, with its GPUs and lanes."""
    # Of the GPUs of lanes, which are read with their node already, as much as says whether the lane takes work.
    decided = ("state", "reason", "changed_by", "state_since", "state_until", "lost_since")
    of_lanes = Gpu.objects.only("node", "lane", "index", "accelerator", *decided)
    nodes = Node.objects.all() if ids is None else Node.objects.filter(pk__in=ids)
    return nodes.prefetch_related(Prefetch("lanes__gpus", of_lanes), "lanes__gpus__node", "lanes__node", "gpus__node")


def changes_of(*, node: int | None = None, gpu: int | None = None, lane: int | None = None) -> QuerySet[StateChange]:
    """The changes of a node with all that it has, or of a GPU or a lane and of the node itself that it is of."""
    if node is not None:
        return StateChange.objects.filter(node=node)
    home = Node.objects.filter(gpus=gpu) if gpu is not None else Node.objects.filter(lanes=lane)
    own = Q(gpu=gpu) if gpu is not None else Q(lane=lane)
    return StateChange.objects.filter(own | Q(gpu=None, lane=None, node__in=home.values("pk")))


def newest_agent() -> NodeAgent | None:
    """The node agent whose reports are taken, or that is being started first of all."""
    started = NodeAgent.objects.exclude(code_used_at=None)
    return started.first() or NodeAgent.objects.first()


def _in_order(lanes: QuerySet[Lane]) -> QuerySet[Lane]:
    """The lanes in the pool's order, each with its node and its GPUs."""
    return lanes.order_by("node__name", "index").select_related("node").prefetch_related("gpus__node")


def _device(lane: Lane) -> str:
    return CPU if lane.kind == LaneKind.CPU else lane.accelerator


def _of_pool(lanes: QuerySet[Lane], pool: str | None) -> QuerySet[Lane]:
    return lanes if pool is None else lanes.filter(pool=pool)


def _usable_lanes(pool: str | None = None) -> QuerySet[Lane]:
    """Lanes of a pool, or of all, that take work: by decision of their node, of all their GPUs, and of themselves; on
    nodes that Ray reaches, and where it gives GPUs to Tandem."""
    active = ServiceState.ACTIVE
    idle_gpus = Gpu.objects.filter(~Q(state=active) | Q(lost_since__isnull=False), lane__isnull=False)
    takes_work = Lane.objects.filter(
        Q(kind=LaneKind.CPU) | Q(node__are_gpus_held=True), state=active, node__state=active, node__lost_since=None
    ).exclude(pk__in=idle_gpus.values("lane"))
    return _of_pool(takes_work, pool)


def _by_kind(lanes: QuerySet[Lane]) -> Mapping[LaneKind, int]:
    counts = lanes.order_by().values_list(F("kind")).annotate(Count("pk"))
    return {LaneKind(kind): count for kind, count in counts}
