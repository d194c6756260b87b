"""Reads of the pool: its lanes, the free ones, and their holders."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import Count, F, Min, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from fleet.lane_demand import kind_for, lane_number
from fleet.lane_layout import NOT_OFFERED
from fleet.models import Gpu, GpuTest, Lane, LaneKind, LaneUse, Node, NodeAgent, Pool, ServiceState, StateChange
from worker.contracts.device_masks import takes_uuid
from worker.contracts.device_names import several
from worker.contracts.lanes import DEFAULT_POOL, LaneGrant
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


def pool_lanes(pool: str | None = None) -> Mapping[LaneKind, int]:
    """Number of lanes by kind that can be allocated to runs, free or not, in a pool or in all; 0 for a kind of which
    there are lanes and none is in service."""
    in_service = _by_kind(usable_lanes(pool))
    return {kind: in_service.get(kind, 0) for kind in {**all_lanes(pool), **in_service}}


def all_lanes(pool: str | None = None) -> Mapping[LaneKind, int]:
    """Number of lanes of a pool, or of all, by kind, whether they take work or not; without those that their node does
    not offer any more."""
    return _by_kind(_of_pool(Lane.objects.exclude(reason=NOT_OFFERED), pool))


def num_slots_beside_gpus(pool: str) -> int:
    """Number of CPU lanes of a pool with a GPU lane of it on their node, at most one for each; in service or not."""
    lanes = _of_pool(Lane.objects.exclude(reason=NOT_OFFERED), pool)
    by_node: dict[int, Counter[str]] = defaultdict(Counter)
    for node, kind, number in lanes.order_by().values_list("node_id", "kind").annotate(Count("pk")):
        by_node[node][kind] += number
    return sum(min(kinds[LaneKind.CPU], kinds[LaneKind.GPU]) for kinds in by_node.values())


def all_devices(pool: str) -> dict[str, int]:
    """Number of the pool's lanes that can generate or train by device, whether they take work or not."""
    lanes = Lane.objects.filter(pool=pool, kind=trainer_kind(pool)).exclude(reason=NOT_OFFERED)
    return _by_device(lanes)


def free_lanes(pool: str | None = None) -> Mapping[LaneKind, int]:
    """Number of free lanes of a pool, or of all, by kind."""
    return _by_kind(_free_lanes(pool))


@dataclass(frozen=True, slots=True)
class LanesInService:
    """Lanes of a pool that are alike and take work."""

    pool: str
    kind: LaneKind
    device: str
    """Their accelerator, or `cpu`."""
    are_held: bool
    number: int


def lanes_in_service() -> list[LanesInService]:
    """The lanes of every pool that take work, held or not, counted."""
    plain = usable_lanes().exclude(reason=NOT_OFFERED).order_by()
    # A lane of several GPUs, which are alike, has as many rows.
    alike = {
        pk: (pool, LaneKind(kind), device or kind, held_since is not None)
        for pk, pool, kind, device, held_since in plain.values_list(
            "pk", "pool", "kind", "gpus__accelerator", "held_since"
        )
    }
    return [LanesInService(*kind, number) for kind, number in Counter(alike.values()).items()]


def holdings_by_pool() -> dict[str, dict[UUID, int]]:
    """Number of lanes of each pool that a run holds, by run."""
    rows = Lane.objects.exclude(run_id=None).exclude(reason=NOT_OFFERED).order_by()
    holdings: dict[str, dict[UUID, int]] = {}
    for pool, run_id, number in rows.values_list("pool", "run_id").annotate(Count("pk")):
        if run_id is not None:
            holdings.setdefault(pool, {})[run_id] = number
    return holdings


@dataclass(frozen=True, slots=True)
class HeldLane:
    """A lane that is held, on whose account, and whether it takes work again once it is free."""

    run_id: UUID | None
    """Empty for a lane that a test holds."""
    attempt: int | None
    """Empty for a lane that a preview or a test holds."""
    project_id: UUID | None
    kind: LaneKind
    takes_work: bool


def held_lanes_of(pool: str) -> list[HeldLane]:
    """Every lane of the pool that is held now."""
    usable = set(usable_lanes(pool).exclude(held_since=None).values_list("pk", flat=True))
    rows = LaneUse.objects.filter(until=None, lane__pool=pool)
    return [
        HeldLane(run_id, attempt, project_id, LaneKind(kind), lane in usable)
        for run_id, attempt, project_id, kind, lane in rows.values_list(
            "run_id", "attempt", "project_id", "lane__kind", "lane"
        )
    ]


def pools_of(*, nodes: Collection[int] = (), gpus: Collection[int] = (), lanes: Collection[int] = ()) -> set[str]:
    """The pools of all lanes of these nodes, of these GPUs, and of these lanes, by id."""
    concerned = Q(node__in=nodes) | Q(gpus__in=gpus) | Q(pk__in=lanes)
    return set(Lane.objects.filter(concerned).order_by().values_list("pool", flat=True).distinct())


def pool_or_default(name: str) -> str:
    """The name, or that of the default pool where this one has been removed."""
    return name if Pool.objects.filter(pk=name).exists() else DEFAULT_POOL


def free_in_order(kind: LaneKind, *, pool: str | None) -> QuerySet[Lane]:
    """The free lanes of a kind in a pool, or in all, in the order of allocation."""
    return _in_order(_free_lanes(pool).filter(kind=kind))


def free_of_keys(keys: Collection[int], pool: str | None = None) -> QuerySet[Lane]:
    """Those of these lanes that are free, in a pool or in any, each with its node and what grants and uses say of its
    GPUs."""
    of_grants = ("node", "lane", "index", "uuid", "accelerator", "resource", "identity", "price_per_gpu_hour")
    free = _free_lanes(pool).filter(pk__in=keys)
    return free.select_related("node").prefetch_related(Prefetch("gpus", Gpu.objects.only(*of_grants)))


def free_devices(kind: LaneKind, pool: str) -> dict[str, int]:
    """Number of free lanes of a kind in a pool, by device."""
    return _by_device(free_in_order(kind, pool=pool))


def nodes_in_service(pool: str) -> list[str]:
    """Names of the nodes with lanes of the pool that take work, held or not."""
    return sorted(usable_lanes(pool).order_by().values_list("node__name", flat=True).distinct())


def pool_devices(pool: str) -> dict[str, int]:
    """Number of the pool's lanes that can generate or train by device, free or not."""
    return _by_device(usable_lanes(pool).filter(kind=trainer_kind(pool)))


def trainer_kind(pool: str) -> LaneKind:
    """The kind of lane that generates and trains in the pool."""
    return kind_for(LaneRole.TRAINER, pool_lanes(pool))


def devices_of(run_id: UUID, attempt: int) -> tuple[str, ...]:
    """Devices of the rollout and trainer lanes that the attempt holds, in the order of allocation."""
    lanes = Lane.objects.filter(run_id=run_id, attempt=attempt).exclude(role=LaneRole.REWARD.value)
    return tuple(lane.device_kind for lane in _in_order(lanes))


def kinds_by_lane(run_id: UUID, attempt: int) -> dict[str, LaneKind]:
    """Kinds of the lanes that the attempt holds, by name."""
    lanes = Lane.objects.filter(run_id=run_id, attempt=attempt)
    return {lane.name_in_run: LaneKind(lane.kind) for lane in lanes}


def devices_by_lane(run_id: UUID, attempt: int) -> dict[str, str]:
    """Devices of the lanes that the attempt holds, by name, in the pool's order."""
    lanes = _in_order(Lane.objects.filter(run_id=run_id, attempt=attempt))
    return {lane.name_in_run: lane.device_kind for lane in lanes}


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


def held_by_attempts(keys: Collection[tuple[UUID, int]]) -> set[tuple[UUID, int]]:
    """Those of these attempts, each a run's id and a number, that hold lanes."""
    rows = Lane.objects.filter(run_id__in={run_id for run_id, _ in keys}).order_by().values_list("run_id", "attempt")
    return set(keys) & set(rows)


def grants_of(run_id: UUID, attempt: int) -> tuple[LaneGrant, ...]:
    """The lanes that the attempt holds, by role and number."""
    return tuple(grant for grant, _ in grants_with_devices(run_id, attempt))


def all_take_work(run_id: UUID, attempt: int) -> bool:
    """Whether all lanes that the attempt holds would be given to a run if they were free."""
    held = Lane.objects.filter(run_id=run_id, attempt=attempt)
    return not held.exclude(pk__in=usable_lanes().values("pk")).exists()


def grants_with_devices(run_id: UUID, attempt: int) -> tuple[tuple[LaneGrant, str], ...]:
    """As `grants_of`, each with its device. Read at once, since lanes join and leave a run while it works."""
    lanes = _in_order(Lane.objects.filter(run_id=run_id, attempt=attempt))
    order = sorted(lanes, key=lambda lane: (ROLE_ORDER.index(lane.role), lane_number(lane.name_in_run)))
    return tuple((grant_of(lane), lane.device_kind) for lane in order)


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
    by_uuid = all(takes_uuid(gpu.identity.get("vendor", ""), gpu.uuid) for gpu in gpus)
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


def lanes_without_work(pool: str | None = None) -> QuerySet[Lane]:
    """Those of `lanes_with_places` that take no work now, held or not."""
    return lanes_with_places(pool).exclude(pk__in=usable_lanes(pool).order_by().values("pk"))


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
    gpus = Gpu.objects.defer("faults_before")
    prefetched = (Prefetch("lanes__gpus", of_lanes), "lanes__gpus__node", "lanes__node")
    return nodes.prefetch_related(*prefetched, Prefetch("gpus", gpus), "gpus__node")


def open_tests(node_ids: Collection[int]) -> QuerySet[GpuTest]:
    """The tests of GPUs of these nodes that have not ended; at most one a GPU."""
    return GpuTest.objects.filter(ended_at=None, gpu__node__in=node_ids).select_related("peer__node")


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


def _by_device(lanes: QuerySet[Lane]) -> dict[str, int]:
    """Number of the lanes, which are of one kind, by device."""
    plain = lanes.select_related(None).prefetch_related(None).order_by()
    # A lane of several GPUs, which are alike, has as many rows.
    rows = Counter(plain.values_list("pk", "kind", "gpus__accelerator"))
    devices = (
        CPU if kind == LaneKind.CPU else several(device or "", number) for (_, kind, device), number in rows.items()
    )
    return dict(Counter(devices))


def _of_pool(lanes: QuerySet[Lane], pool: str | None) -> QuerySet[Lane]:
    return lanes if pool is None else lanes.filter(pool=pool)


def usable_lanes(pool: str | None = None) -> QuerySet[Lane]:
    """Lanes of a pool, or of all, that take work: by decision of their node, of all their GPUs, and of themselves; on
    nodes that Ray reaches, and where it gives GPUs to Tandem."""
    active = ServiceState.ACTIVE
    idle_gpus = Gpu.objects.filter(~Q(state=active) | Q(lost_since__isnull=False), lane__isnull=False)
    takes_work = Lane.objects.filter(
        Q(kind=LaneKind.CPU) | Q(node__are_gpus_held=True), state=active, node__state=active, node__lost_since=None
    ).exclude(pk__in=idle_gpus.values("lane"))
    return _of_pool(takes_work, pool)


def _free_lanes(pool: str | None = None) -> QuerySet[Lane]:
    """Those of `usable_lanes` that nobody holds, on nodes of Ray's newest list. A node that it leaves out counts as
    lost after a while, but a run whose node has died must not be given the same lanes before that."""
    newest = NodeAgent.objects.exclude(reported_at=None).order_by("-reported_at").values("reported_at")[:1]
    free = usable_lanes(pool).filter(held_since=None)
    return free.exclude(node__in_cluster_at__lt=Coalesce(Subquery(newest), F("node__in_cluster_at")))


def _by_kind(lanes: QuerySet[Lane]) -> Mapping[LaneKind, int]:
    counts = lanes.order_by().values_list(F("kind")).annotate(Count("pk"))
    return {LaneKind(kind): count for kind, count in counts}
