"""What a lane or GPU may do now, and by whose decision: the first that holds of

lost (its node, its card)  ·  decided about its node  ·  about its card  ·  about itself  ·  used by other programs
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fleet.models import Gpu, Lane, LaneKind, Node, ServiceState

AGENT = "node agent"
"""Who says that something is lost, in histories."""


class PoolState(StrEnum):
    """What pages and REST call the state of a lane, a GPU or a node."""

    AVAILABLE = "available"
    """Free, and takes work."""
    ALLOCATED = "allocated"
    """Held by a run or a preview, or for the test of another GPU."""
    CORDONED = "cordoned"
    DRAINING = "draining"
    MAINTENANCE = "maintenance"
    AWAITING_TEST = "awaiting_test"
    FAULTY = "faulty"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Standing:
    """Why something takes no work; `state` is `available` where it does."""

    state: PoolState = PoolState.AVAILABLE
    place: str = ""
    """The node, GPU or lane that this is decided about, as users call it."""
    reason: str = ""
    changed_by: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def takes_work(self) -> bool:
        return self.state is PoolState.AVAILABLE


def of_node(node: Node) -> Standing:
    if node.lost_since is not None:
        return Standing(PoolState.LOST, f"node {node.name}", "Ray does not count it as alive", AGENT, node.lost_since)
    return _decided(node, f"node {node.name}")


def of_gpu(gpu: Gpu) -> Standing:
    """The standing of a card on its node."""
    place = f"GPU {gpu.index} of {gpu.node.name}"
    if gpu.node.lost_since is None and gpu.lost_since is not None:
        return Standing(PoolState.LOST, place, "its driver does not reach it", AGENT, gpu.lost_since)
    standing = of_node(gpu.node)
    if not standing.takes_work:
        return standing
    if not gpu.node.are_gpus_held:
        reason = "another program on Ray uses GPUs of it"
        return Standing(PoolState.CORDONED, f"node {gpu.node.name}", reason, AGENT)
    return _decided(gpu, place)


def of_lane(lane: Lane) -> Standing:
    """The standing of a lane, whether it is held or not."""
    before = [of_gpu(gpu) for gpu in lane.gpus.all()] if lane.kind == LaneKind.GPU else [of_node(lane.node)]
    stopped = (standing for standing in before if not standing.takes_work)
    return next(stopped, None) or _decided(lane, f"lane {lane.label}")


def _decided(row: Node | Gpu | Lane, place: str) -> Standing:
    if row.state == ServiceState.ACTIVE:
        return Standing()
    return Standing(PoolState(row.state), place, row.reason, row.changed_by, row.state_since, row.state_until)
