"""Lanes that are drained by a deadline while somebody holds them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from fleet.models import Gpu, Lane, Node, ServiceState
from worker.contracts.names import LaneRole


@dataclass(frozen=True, slots=True)
class DrainedLane:
    """A held lane of a node or GPU that has to be empty by a time."""

    run_id: UUID
    attempt: int
    name: str
    """Its name in the run."""
    role: LaneRole
    device: str
    """Its accelerator, or `cpu`."""
    place: str
    """The node or GPU that is drained."""
    since: datetime
    deadline: datetime


def drained_lanes() -> list[DrainedLane]:
    """The lanes that attempts hold on nodes and GPUs that are drained by a deadline."""
    draining = Q(state=ServiceState.DRAINING, state_until__isnull=False)
    nodes = {node.pk: node for node in Node.objects.filter(draining)}
    gpus = {gpu.lane_id: gpu for gpu in Gpu.objects.filter(draining, lane__isnull=False).select_related("node")}
    held = Lane.objects.exclude(attempt=None).filter(Q(node__in=nodes) | Q(pk__in=gpus)).prefetch_related("gpus")
    return [_drained(lane, nodes.get(lane.node_id) or gpus[lane.pk]) for lane in held.order_by("pk")]


def _drained(lane: Lane, place: Node | Gpu) -> DrainedLane:
    if lane.run_id is None or lane.attempt is None or place.state_until is None:
        raise ValueError(f"lane {lane} is not held on a place with a deadline")
    return DrainedLane(
        run_id=lane.run_id,
        attempt=lane.attempt,
        name=lane.name_in_run,
        role=LaneRole(lane.role),
        device=lane.accelerator or "cpu",
        place=place.name,
        since=place.state_since,
        deadline=place.state_until,
    )
