"""Reads of where embeddings of prompts lie: the room on each node's disk, and the runs that hold some of it."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from fleet.models import Lane
from fleet.selectors import trainer_kind, usable_lanes
from worker.contracts.names import LaneRole


def embedding_rooms(pool: str) -> dict[str, int | None]:
    """What embeddings of prompts may take on the disk of each node with lanes of the pool that can generate or train,
    by name; `None` where the node has not told."""
    lanes = usable_lanes(pool).filter(kind=trainer_kind(pool)).order_by("node__name")
    return dict(lanes.values_list("node__name", "node__embeddings_room_bytes"))


def runs_by_node(nodes: Collection[str]) -> dict[str, set[UUID]]:
    """The runs that hold rollout or trainer lanes of `nodes`, by the node's name, whatever the pool."""
    held = Lane.objects.filter(node__name__in=nodes).exclude(role=LaneRole.REWARD.value)
    found: dict[str, set[UUID]] = defaultdict(set)
    for node, run in held.order_by().values_list("node__name", "run_id"):
        if run is not None:
            found[node].add(run)
    return dict(found)
