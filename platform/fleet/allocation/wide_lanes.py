"""Lanes of several GPUs: how many of a node's GPUs make one, and the change of lanes as they come free.

    `set_gpus_per_lane` ─► groups of linked GPUs (`fleet.allocation.gpu_groups`) ─► lanes that are free are made anew
    a lane is released  ─► the same for its node, since that lane may have been what a group waited for

Invariant: a lane that is held, or that somebody has taken out of service, keeps its GPUs; so does every other lane
that shares a wanted group with it.
"""

from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, F

from accounts.access import Actor, require_pool_admin
from audit.record import record
from fleet.allocation.gpu_groups import gpu_groups
from fleet.allocation.lane_choice import FreeLane
from fleet.models import Gpu, Lane, LaneKind, Node, ServiceState
from fleet.pools.pool_changes import publish_holders
from fleet.pools.pool_membership import assign_pools, lock_membership
from fleet.selectors import pools_of
from fleet.signals import announce_lanes
from worker.contracts.device_names import MAX_GPUS_PER_LANE
from worker.contracts.lanes import DEFAULT_POOL


@transaction.atomic
def set_gpus_per_lane(*, user: Actor, node: Node, number: int) -> None:
    """Let lanes of the node have so many GPUs: those that are free now, others as they come free. `node` is refreshed.

    Raises `PermissionDenied`, `ValidationError`.
    """
    admin = require_pool_admin(user, pools_of(nodes=[node.pk]))
    if not 1 <= number <= MAX_GPUS_PER_LANE:
        raise ValidationError(
            {"gpus_per_lane": f"`gpus_per_lane` must lie between 1 and {MAX_GPUS_PER_LANE}, got {number}"}
        )
    if Node.objects.filter(pk=node.pk).exclude(gpus_per_lane=number).update(gpus_per_lane=number):
        record("node.set_gpus_per_lane", node, user=admin, gpus_per_lane=number)
    node.refresh_from_db()
    regroup(node.pk)


def regroup_on_commit(lanes: Collection[int]) -> None:
    """Regroup the nodes of these lanes, which were just released, where their lanes are to have other GPUs. In a
    transaction of its own: a report of the same node must not wait for a run's end, nor the other way round."""
    wide = Lane.objects.filter(pk__in=lanes, kind=LaneKind.GPU).order_by().annotate(number=Count("gpus"))
    for node_id in set(wide.exclude(number=F("node__gpus_per_lane")).values_list("node", flat=True)):
        # Not a `partial`: Django names the function that failed, and a partial has no name.
        def act(node_id: int = node_id) -> None:
            regroup(node_id)

        transaction.on_commit(act, robust=True)


def regroup_all() -> int:
    """Regroup every node whose lanes differ from its setting; returns how many lanes were made or changed."""
    lanes = Lane.objects.filter(kind=LaneKind.GPU, held_since=None).order_by().annotate(number=Count("gpus"))
    nodes = set(lanes.exclude(number=F("node__gpus_per_lane")).values_list("node", flat=True))
    return sum(regroup(node_id) for node_id in sorted(nodes))


@transaction.atomic
def regroup(node_id: int) -> int:
    """Give the node's GPUs the lanes that its setting asks for, as far as these are free; returns how many lanes were
    made or changed."""
    lock_membership()
    node = Node.objects.get(pk=node_id)
    # MIG slices are devices of their own, which no collective joins.
    cards = node.gpus.exclude(lane=None).order_by("index")
    gpus = {gpu.pk: gpu for gpu in cards if not gpu.identity.get("parent_uuid")}
    groups = [set(group) for group in gpu_groups([_card(node, gpu) for gpu in gpus.values()], node.gpus_per_lane)]
    free = node.lanes.filter(kind=LaneKind.GPU, held_since=None, state=ServiceState.ACTIVE)
    lanes = {lane.pk: lane for lane in free.select_for_update(skip_locked=True, of=("self",))}
    changed = 0
    for keys in _connected(groups, gpus):
        now = {gpus[key].lane_id for key in keys}
        wanted = [group for group in groups if group <= keys]
        is_so_already = len(now) == len(wanted) and all(len({gpus[key].lane_id for key in g}) == 1 for g in wanted)
        takes_work = all(gpus[key].state == ServiceState.ACTIVE and gpus[key].lost_since is None for key in keys)
        if not is_so_already and takes_work and now <= lanes.keys():
            changed += _remake(node, [lanes[pk] for pk in now if pk is not None], wanted, gpus)
    if changed:
        assign_pools(node.lanes.filter(kind=LaneKind.GPU, held_since=None))
        publish_holders([node_id])
        announce_lanes()
    return changed


def _connected(groups: list[set[int]], gpus: dict[int, Gpu]) -> list[set[int]]:
    """Sets of GPUs that change lanes together: a wanted group, the lanes that it takes GPUs from, and so on."""
    of_lane: dict[int | None, set[int]] = {}
    for key, gpu in gpus.items():
        of_lane.setdefault(gpu.lane_id, set()).add(key)
    found: list[set[int]] = []
    for part in [*groups, *of_lane.values()]:
        touching = [known for known in found if known & part]
        found = [known for known in found if not known & part] + [part.union(*touching)]
    return found


def _remake(node: Node, lanes: list[Lane], wanted: list[set[int]], gpus: dict[int, Gpu]) -> int:
    """Let these lanes hold the groups `wanted`. A lane with the index of a group's first GPU stays; returns the number
    of groups."""
    by_index = {lane.index: lane for lane in lanes}
    used = set(node.lanes.filter(kind=LaneKind.GPU).values_list("index", flat=True))
    kept = set()
    for group in sorted(wanted, key=lambda group: min(gpus[key].index for key in group)):
        first = min(gpus[key].index for key in group)
        lane = by_index.get(first)
        if lane is None:
            # MIG slices and cards that were replaced may have its index.
            index = next(number for number in range(first, first + len(used) + 1) if number not in used)
            used.add(index)
            label = f"{node.name}/{LaneKind.GPU}-{index}"
            lane = Lane.objects.create(node=node, pool_id=DEFAULT_POOL, kind=LaneKind.GPU, index=index, label=label)
        kept.add(lane.pk)
        Gpu.objects.filter(pk__in=group).update(lane=lane)
    Lane.objects.filter(pk__in=[lane.pk for lane in lanes if lane.pk not in kept]).delete()
    return len(wanted)


def _card(node: Node, gpu: Gpu) -> FreeLane:
    """The GPU as a lane of its own would be."""
    return FreeLane(
        key=gpu.pk,
        node=node.name,
        index=gpu.index,
        device=gpu.accelerator,
        uuids=(gpu.uuid,) if gpu.uuid else (),
        nvlink_peers=frozenset(gpu.topology.get("nvlink_peers", ())),
        numa_node=gpu.topology.get("numa_node"),
    )
