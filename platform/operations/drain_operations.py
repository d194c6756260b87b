"""Drains of nodes and GPUs as operations, which everybody sees."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.db.models import Case, CharField, Q, QuerySet, Value, When

from accounts.access import require_pool_admin
from accounts.models import User
from fleet.health.upkeep import PoolAction, act
from fleet.models import Gpu, Node, ServiceState, StateChange
from fleet.selectors import pools_of
from fleet.states.drain_history import drain_changes, lanes_of
from operations.operation_body import OperationBody, OperationProgress, OperationState, OperationTarget
from operations.operation_source import OperationSource, Reader, state_of
from runs.operation_ids import OperationKind


class DrainOperations(OperationSource[StateChange]):
    kind = OperationKind.DRAIN
    created_at = "at"
    asked_by = "by"
    run = project = ""
    audited: ClassVar[Mapping[str, str]] = {"node.drain": "change", "gpu.drain": "change"}

    def rows(self, user: User) -> QuerySet[StateChange]:
        return (
            drain_changes()
            .select_related("node", "gpu__node")
            .annotate(
                operation_state=Case(
                    When(is_held=True, left_at=None, then=Value(OperationState.RUNNING)),
                    When(is_held=True, then=Value(OperationState.CANCELLED)),
                    default=Value(OperationState.SUCCEEDED),
                    output_field=CharField(),
                ),
            )
        )

    def may_be_under_way(self) -> Q:
        draining = ServiceState.DRAINING
        return Q(gpu=None, node__state=draining) | Q(gpu__state=draining)

    def bodies(self, reader: Reader, rows: Sequence[StateChange]) -> list[OperationBody]:
        open_rows = [row for row in rows if state_of(row) is OperationState.RUNNING]
        nodes = {row.node_id for row in open_rows if row.gpu_id is None and row.node_id is not None}
        lanes = lanes_of(nodes, {row.gpu_id for row in open_rows if row.gpu_id is not None})
        return [self._body(reader, row, lanes) for row in rows]

    def _body(
        self, reader: Reader, row: StateChange, lanes: Sequence[tuple[int, int, int | None, bool]]
    ) -> OperationBody:
        target = _target(row)
        return self.made(
            row,
            target=target,
            requested_by=row.by,
            times=(row.at, row.at, vars(row)["emptied_at"] or vars(row)["left_at"]),
            detail=row.reason,
            progress=_progress(row, lanes) if state_of(row) is OperationState.RUNNING else None,
            result=target["link"],
            may_cancel=reader.manages_pool,
        )

    def audited_object(self, row: StateChange) -> tuple[str, str]:
        return ("node", str(row.node_id)) if row.gpu_id is None else ("gpu", str(row.gpu_id))

    def require(self, user: User, row: StateChange) -> None:
        place = _place(row)
        is_node = isinstance(place, Node)
        require_pool_admin(user, pools_of(nodes=[place.pk]) if is_node else pools_of(gpus=[place.pk]))

    def cancel(self, user: User, row: StateChange) -> None:
        act(user=user, on=_place(row), action=PoolAction.RESUME)


def _place(row: StateChange) -> Node | Gpu:
    place = row.node if row.gpu_id is None else row.gpu
    if place is None:
        raise ValueError(f"change {row.pk} is of a node that is gone, which no drain that is listed is")
    return place


def _target(row: StateChange) -> OperationTarget:
    if row.gpu_id is None:
        return {"type": "node", "id": str(row.node_id), "name": row.name, "link": f"/api/v1/nodes/{row.node_id}"}
    return {"type": "gpu", "id": str(row.gpu_id), "name": row.name, "link": f"/api/v1/gpus/{row.gpu_id}"}


def _progress(row: StateChange, lanes: Sequence[tuple[int, int, int | None, bool]]) -> OperationProgress:
    """The lanes that nothing holds any more."""
    held = {
        lane: is_held
        for lane, node, gpu, is_held in lanes
        if (gpu == row.gpu_id if row.gpu_id is not None else node == row.node_id)
    }
    return {"done": len(held) - sum(held.values()), "total": len(held), "unit": "lanes"}
