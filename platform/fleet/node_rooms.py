"""Reads of nodes' room in memory, Ray's object store and for embeddings, and of who is at work there."""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from fleet.models import Lane
from fleet.selectors import trainer_kind, usable_lanes
from worker.contracts.names import LaneRole

_HELD_BY_A_RUN = Q(run_id__isnull=False) & ~Q(role=LaneRole.REWARD.value)
"""Lanes that generate or train for a run."""


@dataclass(frozen=True, slots=True)
class NodeRoom:
    """What a node reported of the memory and disk for Ray's objects."""

    name: str
    num_lanes: int
    """Lanes of the pool that take work and can generate, held or not."""
    num_held: int
    """Those of them that generate or train for a run."""
    object_store_bytes: int
    shm_free_bytes: int | None
    spill_free_bytes: int | None


def rooms_of_nodes(pool: str) -> list[NodeRoom]:
    """The nodes with lanes of the pool that can generate, as far as Ray has told the size of their object store."""
    lanes = _generating_lanes(pool).filter(node__object_store_bytes__isnull=False)
    of_node = ("name", "object_store_bytes", "shm_free_bytes", "spill_free_bytes")
    counted = lanes.values_list(*(f"node__{column}" for column in of_node)).annotate(
        number=Count("pk"), held=Count("pk", filter=_HELD_BY_A_RUN)
    )
    return [
        NodeRoom(name, number, held, store, shm_free, spill_free)
        for name, store, shm_free, spill_free, number, held in counted.order_by("node__name")
    ]


@dataclass(frozen=True, slots=True)
class HostRoom:
    """Lanes of one device on a node, and what the node reported of its own memory."""

    node: str
    device: str
    """By the driver's name, as of `Lane.device_kind`."""
    num_lanes: int
    """Lanes of the pool that take work and can generate, held or not."""
    num_held: int
    """Those of them that generate or train for a run."""
    memory_bytes: int
    used_bytes: int


def host_rooms(pool: str) -> list[HostRoom]:
    """The nodes with lanes of the pool that can generate, as far as they have told how much memory they have."""
    lanes = _generating_lanes(pool)
    held = set(lanes.filter(_HELD_BY_A_RUN).values_list("pk", flat=True))
    by_device: dict[tuple[str, str], list[Lane]] = defaultdict(list)
    for lane in lanes.select_related("node").prefetch_related("gpus"):
        by_device[lane.node.name, lane.device_kind].append(lane)
    found = []
    for (node, device), alike in sorted(by_device.items()):
        memory, used = alike[0].node.memory_bytes, alike[0].node.memory_used_bytes
        if memory is not None and used is not None:
            found.append(HostRoom(node, device, len(alike), sum(lane.pk in held for lane in alike), memory, used))
    return found


def embedding_rooms(pool: str) -> dict[str, int | None]:
    """What embeddings of prompts may take on the disk of each node with lanes of the pool that can generate or train,
    by name; `None` where the node has not told."""
    lanes = _generating_lanes(pool).order_by("node__name")
    return dict(lanes.values_list("node__name", "node__embeddings_room_bytes"))


@dataclass(slots=True)
class LanesAtWork:
    """The lanes that generate or train for a run, whatever their pool."""

    by_node: Counter[str] = field(default_factory=Counter)
    """Their number by the node's name."""
    by_role: Counter[LaneRole] = field(default_factory=Counter)


def lanes_at_work(nodes: Collection[str]) -> dict[UUID, LanesAtWork]:
    """By run, the lanes of those runs that hold some of `nodes`, on other nodes as well."""
    held = Lane.objects.filter(_HELD_BY_A_RUN).order_by()
    there = held.filter(node__name__in=nodes).values("run_id")
    found: dict[UUID, LanesAtWork] = defaultdict(LanesAtWork)
    counted = held.filter(run_id__in=there).values_list("run_id", "node__name", "role").annotate(Count("pk"))
    for run, node, role, number in counted:
        if run is not None:
            found[run].by_node[node] += number
            found[run].by_role[LaneRole(role)] += number
    return dict(found)


def _generating_lanes(pool: str) -> QuerySet[Lane]:
    return usable_lanes(pool).filter(kind=trainer_kind(pool)).order_by()
