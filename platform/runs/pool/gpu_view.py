"""One GPU as a user may see it: who used it, and what happened to its health. Runs of projects that the user may not
see are counted, never named; pool admins read names, as in the usage, and no more of the run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from accounts.access import Actor, is_pool_admin, visible_projects
from fleet.models import Gpu, HealthChange, LaneUse
from runs.models import Run
from runs.pool.pool_view import SOMEBODY_ELSES
from runs.selectors import visible_runs

SOMEBODY = "another project"
GONE = "a deleted run"


@dataclass(frozen=True, slots=True)
class GpuUse:
    """The time for which one holder had the lane of a GPU."""

    id: int
    lane: str
    run_id: UUID | None
    """Empty where the user may not open the run, and for tests."""
    run_name: str
    """Empty for tests of GPUs."""
    project: str
    user: str
    """Who created the run or asked for the preview; empty where that is not for the user to see."""
    role: str
    """`preview` and `test` for such holders, else the lane's role in the run."""
    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class GpuHealthRow:
    """One change of a GPU's health."""

    id: int
    at: datetime
    health: str
    causes: tuple[str, ...]
    remedy: str
    faults: Mapping[str, Any]
    """`GpuFaults` as counted then."""
    run_id: UUID | None
    """The run that held its lane, if the user may open it."""
    run_name: str
    """Empty where no run did."""


def gpu_uses(user: Actor, uses: Iterable[LaneUse]) -> list[GpuUse]:
    """These uses of a GPU; read with their projects and users."""
    uses = list(uses)
    mine = set(visible_projects(user).values_list("pk", flat=True))
    names = _RunNames(user, {use.run_id for use in uses if use.run_id})
    rows = []
    for use in uses:
        is_named = use.project_id in mine or is_pool_admin(user)
        run_id, run_name = names.of(use.run_id)
        rows.append(
            GpuUse(
                id=use.pk,
                lane=use.label,
                run_id=run_id,
                run_name=run_name,
                project="" if use.test_id else use.project.name if use.project and is_named else SOMEBODY,
                user=use.user.username if use.user and is_named else "",
                role="preview" if use.preview_id else "test" if use.test_id else use.role,
                since=use.since,
                until=use.until,
            )
        )
    return rows


def gpu_health_rows(user: Actor, changes: Iterable[HealthChange]) -> list[GpuHealthRow]:
    """These changes of a GPU's health."""
    changes = list(changes)
    names = _RunNames(user, {change.run_id for change in changes if change.run_id})
    rows = []
    for change in changes:
        run_id, run_name = names.of(change.run_id)
        rows.append(
            GpuHealthRow(
                id=change.pk,
                at=change.at,
                health=change.health,
                causes=tuple(change.causes),
                remedy=change.remedy,
                faults=change.faults,
                run_id=run_id,
                run_name=run_name,
            )
        )
    return rows


def uses_of(gpu: Gpu) -> QuerySet[LaneUse]:
    """Every use of a GPU's lanes, by the name that the GPU had then."""
    return LaneUse.objects.filter(gpus__contains=[gpu.name]).select_related("project", "user")


class _RunNames:
    """The names of runs, for those who may read them."""

    def __init__(self, user: Actor, ids: set[UUID]) -> None:
        self._visible = dict(visible_runs(user).filter(pk__in=ids).values_list("pk", "name"))
        all_of_them = Run.objects.filter(pk__in=ids)
        self._readable = dict(all_of_them.values_list("pk", "name")) if is_pool_admin(user) else self._visible
        self._existing = set(all_of_them.values_list("pk", flat=True))

    def of(self, run_id: UUID | None) -> tuple[UUID | None, str]:
        """The id if the user may open the run, and what the run is called."""
        if run_id is None:
            return None, ""
        unnamed = SOMEBODY_ELSES if run_id in self._existing else GONE
        return (run_id if run_id in self._visible else None), self._readable.get(run_id, unnamed)
