"""Resizes that tests send to real drivers."""

from collections.abc import Sequence
from typing import Any

from tests.engine.driving import Driven
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole


def granted(lane: str, role: str, gpus: Sequence[int] = ()) -> dict[str, Any]:
    """A lane that the pool has allocated, as a command holds it."""
    return LaneGrant(lane=lane, role=LaneRole(role), node="local", gpus=tuple(gpus)).model_dump(mode="json")


def resize(driven: Driven, identity: str, **lanes: Any) -> None:
    """Send a resize; `lanes` are fields of `Resize`, with `change` as a role by lane."""
    change = [{"lane": lane, "role": role} for lane, role in lanes.pop("change", {}).items()]
    driven.command(identity, "resize", resize={"change": change, **lanes})


def reports(driven: Driven, identity: str) -> list[dict[str, Any]]:
    """The reports of a resize, oldest first."""
    found = [event["resize"] for event in driven.ingest.of_type("lanes") if event["resize"] is not None]
    return [report for report in found if report["id"] == identity]


def outcome(driven: Driven, identity: str) -> dict[str, Any]:
    """Wait until a resize is done or failed, and return its last report."""
    driven.until(lambda: any(report["state"] != "accepted" for report in reports(driven, identity)))
    return reports(driven, identity)[-1]


def steps(report: dict[str, Any]) -> dict[str, str]:
    """How far each lane of a resize is."""
    return {progress["lane"]: progress["step"] for progress in report["lanes"]}


def roles(driven: Driven) -> dict[str, LaneRole]:
    """The lanes that the run reported last, with their roles."""
    return {info["lane"]: LaneRole(info["role"]) for info in driven.ingest.of_type("lanes")[-1]["lanes"]}
