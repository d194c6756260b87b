"""Resizes that users asked for, as operations. Those of the pool's own are told of in the run and the ledger of
lending."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.db.models import Case, CharField, QuerySet, Value, When

from accounts.access import TO_CONTROL_RUNS, require_role, visible_projects
from accounts.models import User
from operations.operation_body import OperationBody, OperationState
from operations.operation_source import OperationConflict, OperationSource, Reader, state_of
from operations.run_targets import NOT_READ_OF_RUNS, name_of, run_target
from runs.models import RESIZE_REQUESTED, PendingCommand, RunResize
from runs.operation_ids import OperationKind
from worker.contracts.resizing import LaneProgress, ResizeCause, ResizeState


class ResizeOperations(OperationSource[RunResize]):
    kind = OperationKind.RESIZE
    asked_by = "requested_by__username"
    audited: ClassVar[Mapping[str, str]] = {"run.resize": "resize"}

    def rows(self, user: User) -> QuerySet[RunResize]:
        rows = RunResize.objects.filter(run__project__in=visible_projects(user), cause=ResizeCause.USER)
        rows = rows.select_related("run__project", "requested_by").defer(*NOT_READ_OF_RUNS)
        return rows.annotate(
            operation_state=Case(
                When(state=RESIZE_REQUESTED, then=Value(OperationState.WAITING)),
                When(state=ResizeState.ACCEPTED, then=Value(OperationState.RUNNING)),
                When(state=ResizeState.DONE, then=Value(OperationState.SUCCEEDED)),
                default=Value(OperationState.FAILED),
                output_field=CharField(),
            ),
        )

    def bodies(self, reader: Reader, rows: Sequence[RunResize]) -> list[OperationBody]:
        # A resize has the key of its command, which knows when the driver was told.
        commands = PendingCommand.objects.filter(pk__in=[row.pk for row in rows])
        delivered = dict(commands.values_list("pk", "delivered_at"))
        return [
            self.made(
                row,
                target=run_target(row.run),
                project=row.run.project_id,
                requested_by=name_of(row.requested_by),
                times=(row.created_at, delivered.get(row.pk), row.ended_at),
                problem=row.reason,
                progress={
                    "done": sum(LaneProgress.model_validate(lane).step.is_settled for lane in row.lanes),
                    "total": len(row.lanes),
                    "unit": "lanes",
                }
                if row.lanes
                else None,
                result=f"/api/v1/runs/{row.run_id}/size",
            )
            for row in rows
        ]

    def audited_object(self, row: RunResize) -> tuple[str, str]:
        return "run", str(row.run_id)

    def require(self, user: User, row: RunResize) -> None:
        require_role(user, row.run.project, TO_CONTROL_RUNS)

    def cancel(self, user: User, row: RunResize) -> None:
        raise OperationConflict(
            state_of(row), "lanes that join or leave are not called back; wait until it is done, then resize the run"
        )
