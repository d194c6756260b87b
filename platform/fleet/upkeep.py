"""The actions of pool admins on nodes and lanes: cordon, drain, resume.

Invariant: nothing here changes who holds a lane. Runs keep their lanes; only later allocations are affected.
"""

from enum import StrEnum

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import Actor, require_pool_admin
from audit.record import record
from fleet.models import Lane, Node, NodeState

MAX_REASON_CHARS = 200


class PoolAction(StrEnum):
    CORDON = "cordon"
    """Takes no new work; runs on it continue."""
    DRAIN = "drain"
    """The same, for maintenance: the node is drained once the last run on it has ended."""
    RESUME = "resume"


_STATE_AFTER = {
    PoolAction.CORDON: NodeState.CORDONED,
    PoolAction.DRAIN: NodeState.DRAINING,
    PoolAction.RESUME: NodeState.ACTIVE,
}
LANE_ACTIONS = (PoolAction.CORDON, PoolAction.RESUME)


class NodeOffline(Exception):
    """The node is offline, and becomes available by being registered again."""


@transaction.atomic
def change_node(*, user: Actor, node: Node, action: PoolAction, reason: str = "") -> Node:
    """Raises `PermissionDenied`, `ValidationError` for a missing reason, `NodeOffline`."""
    admin = require_pool_admin(user)
    said = _reason(action, reason)
    by = admin.username if said else ""
    changed = (
        Node.objects.filter(pk=node.pk)
        .exclude(state=NodeState.OFFLINE)
        .update(state=_STATE_AFTER[action].value, reason=said, cordoned_by=by)
    )
    node.refresh_from_db()
    if not changed:
        raise NodeOffline(f"node {node.name} is offline: register it again before you {action} it")
    record(f"node.{action}", node, user=admin, reason=said)
    return node


@transaction.atomic
def change_lane(*, user: Actor, lane: Lane, action: PoolAction, reason: str = "") -> Lane:
    """Raises `PermissionDenied`, `ValidationError` for a missing reason or an action that only nodes take."""
    admin = require_pool_admin(user)
    if action not in LANE_ACTIONS:
        raise ValidationError({"action": f"`action` must be cordon or resume for a lane, got {action}"})
    said = _reason(action, reason)
    Lane.objects.filter(pk=lane.pk).update(
        cordoned=action is PoolAction.CORDON, reason=said, cordoned_by=admin.username if said else ""
    )
    lane.refresh_from_db()
    record(f"lane.{action}", lane, user=admin, reason=said)
    return lane


def _reason(action: PoolAction, reason: str) -> str:
    """The reason, which is required for every action except resume."""
    said = reason.strip()
    if action is PoolAction.RESUME:
        return ""
    if not 1 <= len(said) <= MAX_REASON_CHARS:
        raise ValidationError(
            {"reason": f"`reason` must have 1 to {MAX_REASON_CHARS} characters, got {len(said)}: other users read it"}
        )
    return said
