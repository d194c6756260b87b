"""The lanes of a run as its events name them: where each landed, and its role."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from telemetry.models import StreamItem
from worker.contracts.names import LaneRole

DRIVER = "driver"
"""The lane name under which the driver accounts for its own seconds."""
_ROLES = frozenset(LaneRole)


def lanes_ever(run_id: UUID, *, up_to: int, seen: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Every lane that was ever placed, newest word on each, then those of `seen` that only wrote spans."""
    known: dict[str, dict[str, Any]] = {}
    placed = StreamItem.objects.filter(run_id=run_id, type="lanes", stream_seq__lte=up_to).order_by("stream_seq")
    for body in placed.values_list("body", flat=True):
        known.update({lane["lane"]: lane for lane in body["lanes"]})
    for name in sorted(set(seen) - known.keys()):
        known[name] = {"lane": name, "role": _role_by_name(name), "node": "", "device": "", "pid": 0}
    return list(known.values())


def _role_by_name(lane: str) -> str:
    """Lanes are granted as `<role>-<index>`: a lane that writes spans before it was placed is known by that."""
    role = lane.partition("-")[0]
    return role if role == DRIVER or role in _ROLES else ""
