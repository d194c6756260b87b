"""Previews as operations."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.db.models import Case, CharField, Count, QuerySet, Value, When
from django.utils import timezone

from accounts.access import TO_CONTROL_RUNS, require_role, visible_projects
from accounts.models import User
from gallery.models import Preview, PreviewState
from gallery.previews import LIVE, cancel_preview, current_state, launched_at
from operations.operation_body import OperationBody, OperationState
from operations.operation_source import OperationSource, Reader
from operations.run_targets import NOT_READ_OF_RUNS, name_of, run_target
from runs.operation_ids import OperationKind


class PreviewOperations(OperationSource[Preview]):
    kind = OperationKind.PREVIEW
    audited: ClassVar[Mapping[str, str]] = {"preview.create": ""}

    def rows(self, user: User) -> QuerySet[Preview]:
        rows = Preview.objects.filter(run__project__in=visible_projects(user))
        rows = rows.select_related("run__project", "created_by").defer(*NOT_READ_OF_RUNS)
        return rows.annotate(
            operation_state=Case(
                When(state__in=LIVE, deadline__lte=timezone.now(), then=Value(OperationState.FAILED)),
                When(state=PreviewState.QUEUED, code_hash="", then=Value(OperationState.WAITING)),
                When(state__in=LIVE, then=Value(OperationState.RUNNING)),
                When(state=PreviewState.DONE, then=Value(OperationState.SUCCEEDED)),
                When(state=PreviewState.CANCELLED, then=Value(OperationState.CANCELLED)),
                default=Value(OperationState.FAILED),
                output_field=CharField(),
            ),
        )

    def bodies(self, reader: Reader, rows: Sequence[Preview]) -> list[OperationBody]:
        counted = Preview.objects.filter(pk__in=[row.pk for row in rows]).order_by()
        num_images = dict(counted.values_list("pk").annotate(Count("images")))
        return [self._body(reader, row, num_images.get(row.pk, 0)) for row in rows]

    def _body(self, reader: Reader, row: Preview, num_images: int) -> OperationBody:
        state, said = current_state(row)
        return self.made(
            row,
            target=run_target(row.run),
            project=row.run.project_id,
            requested_by=name_of(row.created_by),
            times=(row.created_at, launched_at(row), row.ended_at or row.deadline),
            detail="" if state is PreviewState.FAILED else said,
            problem=said,
            # Each prompt is drawn with the version and without it.
            progress={"done": num_images, "total": 2 * len(row.prompts) * row.num_samples, "unit": "pictures"},
            result=f"/api/v1/runs/{row.run_id}/previews",
            may_cancel=row.run.project_id in reader.projects,
        )

    def audited_object(self, row: Preview) -> tuple[str, str]:
        return "preview", str(row.pk)

    def require(self, user: User, row: Preview) -> None:
        require_role(user, row.run.project, TO_CONTROL_RUNS)

    def cancel(self, user: User, row: Preview) -> None:
        cancel_preview(user=user, preview=row)
