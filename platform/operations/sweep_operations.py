"""Sweeps as operations: all their runs together."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.db.models import Case, CharField, QuerySet, Value, When

from accounts.access import TO_CONTROL_RUNS, require_role
from accounts.models import User
from operations.operation_body import OperationBody, OperationState
from operations.operation_source import OperationSource, Reader
from operations.run_targets import name_of
from runs.models import Sweep, SweepState
from runs.operation_ids import OperationKind
from sweeps.selectors import NO_RUNS, run_counts, visible_sweeps
from sweeps.services import stop_sweep
from sweeps.sweep_body import SweepCounts


class SweepOperations(OperationSource[Sweep]):
    kind = OperationKind.SWEEP
    run, project = "points__places__run", "project"
    audited: ClassVar[Mapping[str, str]] = {"sweep.create": ""}

    def rows(self, user: User) -> QuerySet[Sweep]:
        return visible_sweeps(user).annotate(
            operation_state=Case(
                When(state=SweepState.COMPLETED, then=Value(OperationState.SUCCEEDED)),
                When(state=SweepState.STOPPED, then=Value(OperationState.CANCELLED)),
                default=Value(OperationState.RUNNING),
                output_field=CharField(),
            ),
        )

    def bodies(self, reader: Reader, rows: Sequence[Sweep]) -> list[OperationBody]:
        counts = run_counts([row.pk for row in rows])
        return [self._body(reader, row, counts.get(row.pk, NO_RUNS)) for row in rows]

    def _body(self, reader: Reader, row: Sweep, counts: SweepCounts) -> OperationBody:
        link = f"/api/v1/sweeps/{row.pk}"
        return self.made(
            row,
            target={"type": "sweep", "id": str(row.pk), "name": row.name, "link": link},
            project=row.project_id,
            requested_by=name_of(row.created_by),
            times=(row.created_at, row.created_at, row.ended_at),
            detail=row.reason,
            progress={"done": counts["num_runs_ended"], "total": counts["num_runs"], "unit": "runs"},
            result=link,
            # One that is stopping is under way, and cannot be stopped again.
            may_cancel=row.project_id in reader.projects and row.state == SweepState.RUNNING,
        )

    def audited_object(self, row: Sweep) -> tuple[str, str]:
        return "sweep", str(row.pk)

    def require(self, user: User, row: Sweep) -> None:
        require_role(user, row.project, TO_CONTROL_RUNS)

    def cancel(self, user: User, row: Sweep) -> None:
        stop_sweep(user=user, sweep=row)
