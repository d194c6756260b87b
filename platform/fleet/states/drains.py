"""Held lanes that are to be replaced: those of what is drained by a deadline, those of GPUs that have failed, since
these give wrong results or none, and those of nodes and GPUs that are lost, which do no work."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

from fleet.models import Gpu, Lane, Node, ServiceState
from worker.contracts.names import LaneRole

FAULT_GRACE = timedelta(seconds=60)
"""For how long a run may look for lanes in place of a failed GPU before it saves and waits for some: about as long as
starting a lane takes."""


@dataclass(frozen=True, slots=True)
class DrainedLane:
    """A held lane of a node or GPU that is drained by a deadline, has failed or is lost."""

    run_id: UUID
    attempt: int
    name: str
    """Its name in the run."""
    role: LaneRole
    device: str
    """Its accelerator, or `cpu`."""
    place: str
    """The node or GPU."""
    why: str
    """Why the lane is to be replaced, as a clause."""
    since: datetime
    deadline: datetime | None
    """By when it has to be empty; `None` for a lost one, without which a run goes on as long as it can."""


def drained_lanes() -> list[DrainedLane]:
    """The lanes that attempts hold on nodes and GPUs that are drained by a deadline, that have failed, or are lost."""
    emptied = Q(state=ServiceState.DRAINING, state_until__isnull=False) | Q(lost_since__isnull=False)
    nodes = {node.pk: node for node in Node.objects.filter(emptied)}
    cards = Gpu.objects.filter(emptied | Q(state=ServiceState.FAULTY), lane__isnull=False)
    gpus = {gpu.lane_id: gpu for gpu in cards.select_related("node")}
    held = Lane.objects.exclude(attempt=None).filter(Q(node__in=nodes) | Q(pk__in=gpus)).prefetch_related("gpus")
    return [_drained(lane, nodes.get(lane.node_id) or gpus[lane.pk]) for lane in held.order_by("pk")]


def _drained(lane: Lane, place: Node | Gpu) -> DrainedLane:
    if lane.run_id is None or lane.attempt is None:
        raise ValueError(f"lane {lane} is not held by an attempt")
    why, since, deadline = _reason(place)
    return DrainedLane(
        run_id=lane.run_id,
        attempt=lane.attempt,
        name=lane.name_in_run,
        role=LaneRole(lane.role),
        device=lane.accelerator or "cpu",
        place=place.name,
        why=why,
        since=since,
        deadline=deadline,
    )


def _reason(place: Node | Gpu) -> tuple[str, datetime, datetime | None]:
    if place.lost_since is not None:
        return "is lost", place.lost_since, None
    deadline = place.state_until or place.state_since + FAULT_GRACE
    is_faulty = place.state == ServiceState.FAULTY
    why = f"has failed ({place.reason})" if is_faulty else f"had to be empty by {deadline:%H:%M}"
    return why, place.state_since, deadline
