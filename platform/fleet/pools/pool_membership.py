"""Decides which pool each lane is in, from labels.

    labels of a node or GPU · pools · new lanes · GPUs given to lanes ─► `assign_pools` ─► `Lane.pool`

A lane is in the first pool in order that has all its labels among the lane's, else in `default`. The lane's labels are
those of its node, updated by those of its GPU; of several GPUs, those on which all of them agree.

Invariant: whoever changes any of these calls `assign_pools` in the same transaction. A held lane stays with its holder:
it moves in the books only, and its open `LaneUse` goes on counting for the pool that it was allocated in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from fleet.models import Gpu, Lane, Node, Pool
from fleet.pools.pool_changes import publish_holders
from fleet.signals import announce_lanes
from worker.contracts.lanes import DEFAULT_POOL

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LaneMove:
    """A lane that changes, or would change, its pool."""

    lane: str
    """Its label."""
    old: str
    new: str
    is_held: bool


def labels_of(node: Labels, gpus: Sequence[Labels]) -> dict[str, str]:
    """The labels of a lane on a node with these GPUs."""
    if not gpus:
        return dict(node)
    each = [{**node, **own} for own in gpus]
    return {name: value for name, value in each[0].items() if all(other.get(name) == value for other in each[1:])}


def pool_for(labels: Labels, pools: Iterable[Pool]) -> str:
    """The name of the pool, of `pools` in their order, that a lane with these labels is in."""
    return next((pool.name for pool in pools if pool.matches(labels)), DEFAULT_POOL)


def moves(
    lanes: QuerySet[Lane], pools: Sequence[Pool], changed: Mapping[Node | Gpu, Labels] | None = None
) -> list[LaneMove]:
    """The lanes that another pool than theirs is to have, if `pools` were all pools and `changed` the labels of these
    nodes and GPUs. Nothing is written."""
    return [move for move, _ in _moves(lanes, pools, changed or {})]


@transaction.atomic
def assign_pools(lanes: QuerySet[Lane] | None = None, *, without: str = "") -> list[LaneMove]:
    """Write the pools of these lanes, or of all, and return those that moved. `without` is a pool that gets none.

    Call it after the change that it follows: it waits for other such changes to be committed, then reads.
    """
    lock_membership()
    chosen = Lane.objects.all() if lanes is None else lanes
    found = _moves(chosen.select_for_update(of=("self",)), list(Pool.objects.exclude(pk=without)), {})
    for move, lane in found:
        lane.pool_id = move.new
    if found:
        Lane.objects.bulk_update([lane for _, lane in found], ["pool"])
        publish_holders(lane.node_id for _, lane in found)
        announce_lanes()
    return [move for move, _ in found]


def lock_membership() -> None:
    """Wait for other changes of membership to be committed. Whoever locks nodes, GPUs or lanes and then calls
    `assign_pools` calls this before, so that two never wait for each other."""
    Pool.objects.select_for_update(no_key=True).get(name=DEFAULT_POOL)


def _moves(
    lanes: QuerySet[Lane], pools: Sequence[Pool], changed: Mapping[Node | Gpu, Labels]
) -> list[tuple[LaneMove, Lane]]:
    found = []
    for lane in lanes.select_related("node").prefetch_related("gpus"):
        node = changed.get(lane.node, lane.node.labels)
        new = pool_for(labels_of(node, [changed.get(gpu, gpu.labels) for gpu in lane.gpus.all()]), pools)
        if new != lane.pool_id:
            found.append((LaneMove(lane.label, lane.pool_id, new, lane.held_since is not None), lane))
    return found
