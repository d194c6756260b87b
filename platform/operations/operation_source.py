"""What every kind of operation gives: its rows with their state, their bodies, and how one is cancelled.

Invariant: the state is written once, as an expression of the database, so that filters and bodies agree.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import CharField, F, Model, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from accounts.access import TO_CONTROL_RUNS, is_pool_admin, projects_with_role
from accounts.models import User
from operations.operation_body import UNDER_WAY, OperationBody, OperationProgress, OperationState, OperationTarget
from runs.operation_ids import OperationKind, operation_id

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationFilter:
    """What operations must match; empty fields match all."""

    kinds: Collection[OperationKind] = ()
    states: Collection[OperationState] = ()
    run: UUID | None = None
    project: UUID | None = None
    asked_by: str = ""
    """Name of a user."""
    ids: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads, and what they may cancel."""

    user: User
    projects: frozenset[UUID] = field(default_factory=frozenset)
    """Those in which they may control runs."""
    manages_pool: bool = False

    @classmethod
    def of(cls, user: User) -> "Reader":
        return cls(user, frozenset(projects_with_role(user, TO_CONTROL_RUNS)), is_pool_admin(user))


class OperationConflict(Exception):
    """The operation cannot be cancelled; the message says what is possible."""

    def __init__(self, state: OperationState, reason: str, legal: Sequence[str] = ()) -> None:
        self.state = state
        self.legal = list(legal)
        super().__init__(f"`cancel` is not possible: {reason}")


def state_of(row: Model) -> OperationState:
    """Of a row that a source has read."""
    return OperationState(vars(row)["operation_state"])


class OperationSource(ABC, Generic[Row]):
    """One kind of operation."""

    kind: ClassVar[OperationKind]
    created_at: ClassVar[str] = "created_at"
    """Lookup of when it was asked for; likewise the next three."""
    asked_by: ClassVar[str] = "created_by__username"
    run: ClassVar[str] = "run"
    """Empty where it concerns no run; likewise the next one."""
    project: ClassVar[str] = "run__project"
    audited: ClassVar[Mapping[str, str]]
    """The action in the audit log by which one was begun, and the field of its `changes` that has the row's key; empty
    where the row is the object itself."""

    @abstractmethod
    def rows(self, user: User) -> QuerySet[Row]:
        """Those that the user may see, with `operation_state`."""

    @abstractmethod
    def bodies(self, reader: Reader, rows: Sequence[Row]) -> list[OperationBody]:
        """Each row's, without its request id, in a constant number of queries."""

    @abstractmethod
    def audited_object(self, row: Row) -> tuple[str, str]:
        """Type and id of the object that the audit log names."""

    @abstractmethod
    def require(self, user: User, row: Row) -> None:
        """Raises `PermissionDenied` for who may not cancel it."""

    @abstractmethod
    def cancel(self, user: User, row: Row) -> None:
        """Cancel what is under way, for a user who may. Raises `OperationConflict`."""

    def made(
        self,
        row: Row,
        *,
        target: OperationTarget,
        requested_by: str | None,
        times: tuple[datetime, datetime | None, datetime | None],
        result: str,
        may_cancel: bool = False,
        action: str = "",
        project: UUID | None = None,
        detail: str = "",
        problem: str = "",
        progress: OperationProgress | None = None,
    ) -> OperationBody:
        """The body of a row.

        Args:
            times: when it was asked for, when it began, and when it ended.
            may_cancel: whether the reader may, for as long as it is under way.
        """
        state = state_of(row)
        created, started, ended = times
        return {
            "id": operation_id(self.kind, row.pk),
            "kind": self.kind,
            "action": action or self.kind,
            "state": state,
            "detail": detail,
            "problem": problem if state is OperationState.FAILED else "",
            "progress": progress,
            "target": target,
            "project": None if project is None else str(project),
            "requested_by": requested_by,
            "request_id": "",
            "created_at": created.isoformat(),
            "started_at": None if started is None else started.isoformat(),
            "ended_at": None if ended is None or state in UNDER_WAY else ended.isoformat(),
            "result": result,
            "can_cancel": may_cancel and state in UNDER_WAY,
        }

    def may_be_under_way(self) -> Q:
        """What holds for all that is under way, and is found sooner than the state of each: most have ended."""
        return Q()

    def find(self, user: User, key: str) -> Row | None:
        """The row of that key; None also for a key that cannot be one."""
        rows = self.rows(user)
        try:
            found = rows.filter(pk=rows.model._meta.pk.to_python(key)).first()
        except ValidationError:
            return None
        return found if found is not None and str(found.pk) == key else None

    def keys(self, user: User, wanted: OperationFilter) -> QuerySet[Any] | None:
        """`at` and `operation` (its id) of each that matches; None where none can."""
        asked: list[Q] = []
        if wanted.kinds and self.kind not in wanted.kinds:
            return None
        for lookup, value in ((self.run, wanted.run), (self.project, wanted.project)):
            if value is not None and not lookup:
                return None
            if value is not None:
                asked.append(Q(**{lookup: value}))
        if wanted.states:
            asked.append(Q(operation_state__in=list(wanted.states)))
            if set(wanted.states) <= set(UNDER_WAY):
                asked.append(self.may_be_under_way())
        if wanted.asked_by:
            asked.append(Q(**{self.asked_by: wanted.asked_by}))
        rows: QuerySet[Any] = (
            self.rows(user)
            .filter(*asked)
            .order_by()
            .annotate(
                begun=F(self.created_at),
                operation=Concat(Value(f"{self.kind}-"), Cast("pk", CharField()), output_field=CharField()),
            )
        )
        return rows if wanted.ids is None else rows.filter(operation__in=list(wanted.ids))
