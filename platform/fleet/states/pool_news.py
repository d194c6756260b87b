"""What webhooks are told of nodes and GPUs, inside the transaction that changed them."""

from collections.abc import Iterable

from fleet.models import Gpu, Node, ServiceState, StateChange
from fleet.models.service_states import FOUND, LOST
from hooks.hook_events import HookEvent
from hooks.outbox import announce

_TOLD = {
    (Gpu, ServiceState.FAULTY.value): (HookEvent.GPU_FAULTY, "is faulty"),
    (Gpu, LOST): (HookEvent.GPU_LOST, "is lost"),
    (Gpu, FOUND): (HookEvent.GPU_FOUND, "is there again"),
    (Node, LOST): (HookEvent.NODE_LOST, "is lost"),
    (Node, FOUND): (HookEvent.NODE_FOUND, "is there again"),
}


def tell_of_states(changes: Iterable[StateChange]) -> None:
    """Tell of the changes that somebody may have to act on."""
    for change in changes:
        told = _TOLD.get((Gpu if change.gpu_id else Node, change.new)) if change.lane_id is None else None
        if told is not None:
            _tell(change, *told)


def _tell(change: StateChange, event: HookEvent, words: str) -> None:
    what = f"GPU {change.name}" if change.gpu_id else f"Node {change.name}"
    reason = f": {change.reason}" if change.reason else ""
    announce(
        event,
        text=f"{what} {words}{reason}",
        path=f"/pool/gpus/{change.gpu_id}" if change.gpu_id else "/pool",
        name=change.name,
        node=change.node_id,
        gpu=change.gpu_id,
        old_state=change.old,
        reason=change.reason,
        by=change.by,
    )
