"""Makes lanes of what nodes have: one for each GPU, and CPU slots.

Invariant: a lane that is held is never removed or given other GPUs. Each new lane is put into its pool.
"""

from collections.abc import Collection

from django.db import transaction
from django.db.models import QuerySet

from fleet.models import Lane, LaneKind, Node, ServiceState
from fleet.pools.pool_membership import assign_pools, lock_membership
from fleet.signals import announce_lanes
from fleet.states.state_changes import change_state
from worker.contracts.lanes import DEFAULT_POOL, gpu_resource

LOCAL_NODE = "local"
LAYOUT = "lane layout"
"""Who cordons a surplus lane, in histories."""
NOT_OFFERED = "its node does not offer it any more"
"""The reason of a surplus lane that is cordoned; a lane that an admin cordoned stays cordoned."""


@transaction.atomic
def ensure_local_lanes(
    *, num_cpu_lanes: int, gpu_indices: Collection[int] = (), accelerator: str = "", node: str = LOCAL_NODE
) -> list[Lane]:
    """Make the node hold exactly these lanes. Idempotent; a surplus lane that is held is removed once it is free."""
    lock_membership()
    Node.objects.get_or_create(name=node)
    home = Node.objects.select_for_update().get(name=node)
    for index in gpu_indices:
        if not home.gpus.filter(index=index).exists():
            home.gpus.create(index=index, accelerator=accelerator, resource=gpu_resource(node, index))
    _set_slots(home, num_cpu_lanes)
    give_gpus_lanes(home)
    _retire(home.lanes.filter(kind=LaneKind.GPU, gpus__in=home.gpus.exclude(index__in=gpu_indices)))
    home.gpus.filter(lane=None).delete()
    return list(home.lanes.all())


def give_gpus_lanes(node: Node) -> None:
    """Make a lane for each GPU of the node that has none: whole cards first, whose lanes get their own index."""
    new = []
    for gpu in sorted(node.gpus.filter(lane=None), key=lambda gpu: bool(gpu.identity.get("parent_uuid"))):
        used = set(node.lanes.filter(kind=LaneKind.GPU).values_list("index", flat=True))
        # MIG slices share their card's index, and a card may take the place of one that is lost.
        index = next(number for number in range(gpu.index, gpu.index + len(used) + 1) if number not in used)
        gpu.lane = Lane.objects.create(
            node=node,
            pool_id=DEFAULT_POOL,
            kind=LaneKind.GPU,
            index=index,
            label=f"{node.name}/{LaneKind.GPU}-{index}",
        )
        gpu.save(update_fields=["lane"])
        new.append(gpu.lane.pk)
        announce_lanes()
    if new:
        assign_pools(Lane.objects.filter(pk__in=new))


@transaction.atomic
def set_cpu_lanes(node: Node, number: int) -> None:
    """Make the node have so many CPU lanes; a surplus lane that is held is removed once it is free."""
    _set_slots(Node.objects.select_for_update().get(pk=node.pk), number)


def _set_slots(node: Node, number: int) -> None:
    new = []
    for index in range(number):
        defaults = {"label": f"{node.name}/{LaneKind.CPU}-{index}", "pool_id": DEFAULT_POOL}
        lane, is_new = Lane.objects.get_or_create(node=node, kind=LaneKind.CPU, index=index, defaults=defaults)
        if lane.reason == NOT_OFFERED:
            change_state(lane, ServiceState.ACTIVE, by=LAYOUT)
        new += [lane.pk] * is_new
    if new:
        assign_pools(Lane.objects.filter(pk__in=new))
    _retire(node.lanes.filter(kind=LaneKind.CPU, index__gte=number))


def _retire(surplus: QuerySet[Lane]) -> None:
    """Remove the lanes that are free; those that are held take nothing new, and are removed another time."""
    Lane.objects.filter(pk__in=surplus.filter(held_since=None).values("pk")).delete()
    for lane in surplus.filter(state=ServiceState.ACTIVE):
        change_state(lane, ServiceState.CORDONED, by=LAYOUT, reason=NOT_OFFERED)
