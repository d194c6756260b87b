"""What the pool page shows: every node's lanes, and which run holds each as far as the user may know."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.access import Actor
from fleet.models import Lane, Node
from fleet.selectors import nodes_with_lanes
from runs.selectors import visible_runs

SOMEBODY_ELSES = "a run of another project"


@dataclass(frozen=True, slots=True)
class LaneRow:
    label: str
    kind: str
    device: str
    state: str
    """`free`, `held` or `cordoned`."""
    role: str
    held_since: datetime | None
    run_id: UUID | None
    """Empty for a free lane, and for a run of somebody else's project."""
    run_name: str


@dataclass(frozen=True, slots=True)
class NodeRow:
    name: str
    state: str
    lanes: tuple[LaneRow, ...]

    @property
    def num_held(self) -> int:
        return sum(lane.state == "held" for lane in self.lanes)

    @property
    def num_lanes(self) -> int:
        return len(self.lanes)


def pool_rows(user: Actor) -> list[NodeRow]:
    """Every node with its lanes, in the pool's order."""
    nodes = list(nodes_with_lanes())
    run_ids = {lane.run_id for node in nodes for lane in node.lanes.all() if lane.run_id}
    names = dict(visible_runs(user).filter(pk__in=run_ids).values_list("pk", "name"))
    return [_node_row(node, names) for node in nodes]


def _node_row(node: Node, names: dict[UUID, str]) -> NodeRow:
    return NodeRow(name=node.name, state=node.state, lanes=tuple(_lane_row(lane, names) for lane in node.lanes.all()))


def _lane_row(lane: Lane, names: dict[UUID, str]) -> LaneRow:
    return LaneRow(
        label=lane.label,
        kind=lane.kind,
        device=lane.device,
        state="held" if lane.run_id else "cordoned" if lane.cordoned else "free",
        role=lane.role,
        held_since=lane.held_since,
        run_id=lane.run_id if lane.run_id in names else None,
        run_name=names.get(lane.run_id, SOMEBODY_ELSES) if lane.run_id else "",
    )
