"""The pool as a user may see it: every node's lanes, and the runs that hold them if the user may see those."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.access import Actor
from fleet.models import Lane, Node, NodeState
from fleet.selectors import nodes_with_lanes
from runs.selectors import visible_runs

SOMEBODY_ELSES = "a run of another project"


@dataclass(frozen=True, slots=True)
class LaneRow:
    id: int
    node: str
    label: str
    kind: str
    device: str
    state: str
    """`free`, `held` or `cordoned`; a held lane may be cordoned too."""
    cordoned: bool
    reason: str
    cordoned_by: str
    role: str
    held_since: datetime | None
    run_id: UUID | None
    """The run that holds it; empty for a free lane, and for a run of a project that is not the user's."""
    run_name: str


@dataclass(frozen=True, slots=True)
class NodeRow:
    id: int
    name: str
    state: str
    reason: str
    cordoned_by: str
    lanes: tuple[LaneRow, ...]

    @property
    def num_held(self) -> int:
        return sum(lane.state == "held" for lane in self.lanes)

    @property
    def num_lanes(self) -> int:
        return len(self.lanes)

    @property
    def is_drained(self) -> bool:
        """Whether the node is draining and no lane of it is held any more."""
        return self.state == NodeState.DRAINING and not self.num_held


def pool_rows(user: Actor) -> list[NodeRow]:
    """Every node with its lanes, in the pool's order."""
    nodes = list(nodes_with_lanes())
    run_ids = {lane.run_id for node in nodes for lane in node.lanes.all() if lane.run_id}
    names = dict(visible_runs(user).filter(pk__in=run_ids).values_list("pk", "name"))
    return [_node_row(node, names) for node in nodes]


def node_row(user: Actor, node_id: int) -> NodeRow | None:
    return next((row for row in pool_rows(user) if row.id == node_id), None)


def lane_row(user: Actor, lane_id: int) -> LaneRow | None:
    return next((lane for row in pool_rows(user) for lane in row.lanes if lane.id == lane_id), None)


def _node_row(node: Node, names: dict[UUID, str]) -> NodeRow:
    return NodeRow(
        id=node.pk,
        name=node.name,
        state=node.state,
        reason=node.reason,
        cordoned_by=node.cordoned_by,
        lanes=tuple(_lane_row(lane, node, names) for lane in node.lanes.all()),
    )


def _lane_row(lane: Lane, node: Node, names: dict[UUID, str]) -> LaneRow:
    return LaneRow(
        id=lane.pk,
        node=node.name,
        label=lane.label,
        kind=lane.kind,
        device=lane.device,
        state="held" if lane.run_id else "cordoned" if lane.cordoned else "free",
        cordoned=lane.cordoned,
        reason=lane.reason,
        cordoned_by=lane.cordoned_by,
        role="preview" if lane.preview_id else lane.role,
        held_since=lane.held_since,
        run_id=lane.run_id if lane.run_id in names else None,
        run_name=names.get(lane.run_id, SOMEBODY_ELSES) if lane.run_id else "",
    )
