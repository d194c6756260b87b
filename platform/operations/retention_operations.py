"""Deletions of what is past its days as operations, which pool admins see."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.db.models import Case, CharField, QuerySet, Value, When

from accounts.access import is_pool_admin, require_pool_admin
from accounts.models import User
from operations.operation_body import OperationBody, OperationState
from operations.operation_source import OperationSource, Reader
from operations.run_targets import name_of
from retention.asked_deletions import cancel_deletion
from retention.models import Deletion, DeletionState
from runs.operation_ids import OperationKind

LINK = "/api/v1/retention"


class RetentionOperations(OperationSource[Deletion]):
    kind = OperationKind.RETENTION
    asked_by = "requested_by__username"
    run = project = ""
    audited: ClassVar[Mapping[str, str]] = {"retention.delete": ""}

    def rows(self, user: User) -> QuerySet[Deletion]:
        """Those that were asked for, without what they were to delete, which can be large."""
        asked = Deletion.objects.exclude(state=DeletionState.SHOWN) if is_pool_admin(user) else Deletion.objects.none()
        return (
            asked.select_related("requested_by")
            .defer("shares")
            .annotate(
                operation_state=Case(
                    When(state=DeletionState.OPEN, started_at=None, then=Value(OperationState.WAITING)),
                    When(state=DeletionState.OPEN, then=Value(OperationState.RUNNING)),
                    When(state=DeletionState.SUCCEEDED, then=Value(OperationState.SUCCEEDED)),
                    When(state=DeletionState.CANCELLED, then=Value(OperationState.CANCELLED)),
                    default=Value(OperationState.FAILED),
                    output_field=CharField(),
                ),
            )
        )

    def bodies(self, reader: Reader, rows: Sequence[Deletion]) -> list[OperationBody]:
        return [self._body(reader, row) for row in rows]

    def _body(self, reader: Reader, row: Deletion) -> OperationBody:
        return self.made(
            row,
            target={"type": "retention", "id": str(row.pk), "name": "what is past its days", "link": LINK},
            requested_by=name_of(row.requested_by),
            times=(row.created_at or row.made_at, row.started_at, row.ended_at),
            detail=_detail(row),
            problem=row.problem,
            progress={"done": row.num_items_deleted, "total": row.num_items, "unit": "rows and files"},
            result=LINK,
            may_cancel=reader.manages_pool,
        )

    def audited_object(self, row: Deletion) -> tuple[str, str]:
        return "deletion", str(row.pk)

    def require(self, user: User, row: Deletion) -> None:
        require_pool_admin(user)

    def cancel(self, user: User, row: Deletion) -> None:
        cancel_deletion(user=user, deletion=row)


def _detail(row: Deletion) -> str:
    if not row.num_shares_left:
        return ""
    kept = "1 share was" if row.num_shares_left == 1 else f"{row.num_shares_left} shares were"
    return f"{kept} kept: not past the days any more, or of more than was shown"
