"""The lanes of a run as its events name them: where each was placed, and its role."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from telemetry.models import StreamItem
from telemetry.unreadable import readable
from worker.contracts.base import JsonOf
from worker.contracts.lanes import LaneInfo
from worker.contracts.names import LaneRole

DRIVER = "driver"
"""The lane name under which the driver reports its own spans."""
_ROLES = frozenset({DRIVER, *LaneRole})

Lane = Annotated[dict[str, Any], JsonOf(LaneInfo)]


def placed_lanes(run_id: UUID, *, up_to: int) -> list[Lane]:
    """Every lane that was ever placed, from its newest `lanes` event up to `up_to`."""
    known: dict[str, Lane] = {}
    placed = StreamItem.objects.filter(run_id=run_id, type="lanes", stream_seq__lte=up_to).order_by("stream_seq")
    for report in readable(placed):
        known.update({lane["lane"]: lane for lane in report.body["lanes"]})
    return list(known.values())


@dataclass(frozen=True, slots=True)
class RoleStretch:
    """The role of a lane in what it reported under some numbers of the run's stream."""

    lane: str
    role: str
    """Empty if unknown."""
    from_seq: int
    past_seq: int
    """The number from which it had another role."""


LATEST_SEQ = 2**62
"""Beyond any number of a stream."""


def role_stretches(run_id: UUID, lanes: Iterable[str], *, up_to: int) -> dict[str, list[RoleStretch]]:
    """The roles of lanes in succession, as `lanes` events up to `up_to` tell them; before its first, a lane's role is
    the one in its name."""
    changes: dict[str, list[tuple[int, str]]] = {lane: [(0, role_of(lane, {}))] for lane in lanes}
    placed = StreamItem.objects.filter(run_id=run_id, type="lanes", stream_seq__lte=up_to).order_by("stream_seq")
    for report in readable(placed):
        for info in report.body["lanes"]:
            known = changes.get(info["lane"])
            if known and known[-1][1] != info["role"]:
                known.append((report.stream_seq, info["role"]))
    return {
        lane: [
            RoleStretch(lane, role, number, past)
            for (number, role), (past, _) in zip(known, [*known[1:], (LATEST_SEQ, "")], strict=True)
        ]
        for lane, known in changes.items()
    }


def role_of(lane: str, placed: dict[str, str]) -> str:
    """The role of a lane, from the placed lanes or from its name; empty if unknown.

    Lanes are named `<role>-<index>`, which gives the role of a lane that reports spans before it was placed.
    """
    role = placed.get(lane) or lane.partition("-")[0]
    return role if role in _ROLES else ""
