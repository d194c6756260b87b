"""Tests of GPUs as operations, which everybody sees."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.db.models import Case, CharField, QuerySet, Value, When

from accounts.access import require_pool_admin
from accounts.models import User
from fleet.health.upkeep import PoolAction
from fleet.models import GpuTest, GpuTestState
from fleet.selectors import pools_of
from operations.operation_body import OperationBody, OperationState
from operations.operation_source import OperationConflict, OperationSource, Reader, state_of
from runs.operation_ids import OperationKind
from worker.contracts.gpu_tests import GpuTestStepName


class GpuTestOperations(OperationSource[GpuTest]):
    kind = OperationKind.GPU_TEST
    asked_by = "requested_by"
    run = project = ""
    audited: ClassVar[Mapping[str, str]] = {"gpu.test": "test"}

    def rows(self, user: User) -> QuerySet[GpuTest]:
        return GpuTest.objects.select_related("gpu__node").annotate(
            operation_state=Case(
                When(state=GpuTestState.QUEUED, started_at=None, then=Value(OperationState.WAITING)),
                When(state__in=[GpuTestState.QUEUED, GpuTestState.RUNNING], then=Value(OperationState.RUNNING)),
                When(state=GpuTestState.PASSED, then=Value(OperationState.SUCCEEDED)),
                default=Value(OperationState.FAILED),
                output_field=CharField(),
            ),
        )

    def bodies(self, reader: Reader, rows: Sequence[GpuTest]) -> list[OperationBody]:
        return [
            self.made(
                row,
                target={
                    "type": "gpu",
                    "id": str(row.gpu_id),
                    "name": row.gpu.name,
                    "link": f"/api/v1/gpus/{row.gpu_id}",
                },
                requested_by=row.requested_by,
                times=(row.created_at, row.started_at, row.ended_at),
                detail="" if state_of(row) is OperationState.FAILED else row.reason,
                problem=row.reason,
                progress={"done": len(row.steps), "total": len(GpuTestStepName), "unit": "steps"},
                result=f"/api/v1/gpus/{row.gpu_id}/tests",
            )
            for row in rows
        ]

    def audited_object(self, row: GpuTest) -> tuple[str, str]:
        return "gpu", str(row.gpu_id)

    def require(self, user: User, row: GpuTest) -> None:
        require_pool_admin(user, pools_of(gpus=[row.gpu_id]))

    def cancel(self, user: User, row: GpuTest) -> None:
        raise OperationConflict(
            state_of(row),
            f"without its test the GPU cannot return to work; {PoolAction.CORDON} {row.gpu.name}, which breaks it off",
            [PoolAction.CORDON],
        )
