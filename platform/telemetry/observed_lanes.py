"""The lanes of a run as its events name them: where each was placed, and its role."""

from typing import Annotated, Any
from uuid import UUID

from telemetry.models import StreamItem
from worker.contracts.base import JsonOf
from worker.contracts.events import LaneInfo
from worker.contracts.names import LaneRole

DRIVER = "driver"
"""The lane name under which the driver reports its own spans."""
_ROLES = frozenset({DRIVER, *LaneRole})

Lane = Annotated[dict[str, Any], JsonOf(LaneInfo)]


def placed_lanes(run_id: UUID, *, up_to: int) -> list[Lane]:
    """Every lane that was ever placed, from its newest `lanes` event up to `up_to`."""
    known: dict[str, Lane] = {}
    placed = StreamItem.objects.filter(run_id=run_id, type="lanes", stream_seq__lte=up_to).order_by("stream_seq")
    for body in placed.values_list("body", flat=True):
        known.update({lane["lane"]: lane for lane in body["lanes"]})
    return list(known.values())


def role_of(lane: str, placed: dict[str, str]) -> str:
    """The role of a lane, from the placed lanes or from its name; empty if unknown.

    Lanes are named `<role>-<index>`, which gives the role of a lane that reports spans before it was placed.
    """
    role = placed.get(lane) or lane.partition("-")[0]
    return role if role in _ROLES else ""
