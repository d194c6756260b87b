"""Who used how many lanes and GPUs for how long, and what that cost: sums over `LaneUse`.

Invariant: hours are those inside the window, so that the usage of neighbouring windows adds up, and a lane that is held
now counts until now. Members see their own projects, pool admins all. Tests of GPUs count for nobody.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.access import Actor, is_pool_admin, visible_projects
from accounts.models import Project, User
from fleet.models import LaneUse
from runs.models import Run

DELETED = "deleted"
"""What is shown in place of a project, user or run that is not there any more."""


class UsageBy(StrEnum):
    PROJECT = "project"
    USER = "user"
    ACCELERATOR = "accelerator"
    """The cards' product name; `cpu` for CPU lanes."""
    BASE_MODEL = "base_model"
    """What the run trained."""
    POOL = "pool"
    """The pool that the lane was allocated in."""
    NODE = "node"
    RUN = "run"
    DAY = "day"
    """The day of UTC; a use over midnight counts for both days."""


@dataclass(slots=True)
class UsageRow:
    """The usage of one project, user, card, …"""

    key: str
    name: str
    lane_hours: float = 0.0
    gpu_hours: float = 0.0
    cost: Decimal | None = None
    """In the currency of the GPUs' prices; `None` where none of the GPUs had a price."""
    unpriced_gpu_hours: float = 0.0
    """GPU hours of lanes that had no price, which the cost leaves out."""
    runs: set[UUID] = field(default_factory=set)

    @property
    def num_runs(self) -> int:
        return len(self.runs)


Part = tuple[LaneUse, str, str, datetime, datetime]
"""A use, the key and name of the row that it counts for, and from when until when it does."""


def usage(user: Actor, *, since: datetime, until: datetime, by: UsageBy) -> list[UsageRow]:
    """The usage inside the window, most GPU hours first, then lane hours. Raises `ValueError` for an empty window."""
    rows: dict[str, UsageRow] = {}
    for use, key, name, begin, stop in parts(user, since=since, until=until, by=by):
        _add(rows.setdefault(key, UsageRow(key, name)), use, (stop - begin).total_seconds() / 3600)
    if by is UsageBy.DAY:
        return [rows[key] for key in sorted(rows)]
    return sorted(rows.values(), key=lambda row: (-row.gpu_hours, -row.lane_hours, row.name))


def parts(user: Actor, *, since: datetime, until: datetime, by: UsageBy) -> Iterator[Part]:
    """The uses that the user may see, cut to the window and at what `by` tells apart. Raises `ValueError` for an empty
    window."""
    if since >= until:
        raise ValueError(f"`since` must lie before `until`, got {since.isoformat()} and {until.isoformat()}")
    end = min(until, timezone.now())
    uses = list(_visible_uses(user).filter(since__lt=end).filter(Q(until=None) | Q(until__gt=since)))
    label = _labeller(by, uses)
    for use in uses:
        for key, name, begin, stop in label(use, max(use.since, since), min(use.until or end, end)):
            yield use, key, name, begin, stop


def _visible_uses(user: Actor) -> QuerySet[LaneUse]:
    uses = LaneUse.objects.filter(test_id=None)
    if is_pool_admin(user):
        return uses
    return uses.filter(project__in=visible_projects(user))


def _add(row: UsageRow, use: LaneUse, hours: float) -> None:
    row.lane_hours += hours
    row.gpu_hours += hours * len(use.gpus)
    if use.run_id is not None:
        row.runs.add(use.run_id)
    if use.price_per_hour is not None:
        row.cost = (row.cost or Decimal(0)) + use.price_per_hour * Decimal(hours)
    else:
        row.unpriced_gpu_hours += hours * len(use.gpus)


Piece = tuple[str, str, datetime, datetime]
"""Key and name of a row, and the part of a use that it gets."""


def _labeller(by: UsageBy, uses: list[LaneUse]) -> Callable[[LaneUse, datetime, datetime], Iterable[Piece]]:
    if by is UsageBy.DAY:
        return lambda use, begin, stop: ((day, day, first, last) for day, first, last in days_between(begin, stop))
    runs: dict[UUID | None, Run] = {}
    if by in (UsageBy.BASE_MODEL, UsageBy.RUN):
        runs = Run.objects.defer("prompts").in_bulk({use.run_id for use in uses})
    # Read and parsed once each, since thousands of uses have a few projects, users and runs.
    base_models = (
        {run_id: run.run_spec.base_model.path for run_id, run in runs.items()} if by is UsageBy.BASE_MODEL else {}
    )
    projects: dict[UUID | None, str] = dict(
        Project.objects.filter(pk__in={use.project_id for use in uses}).values_list("pk", "name")
    )
    users: dict[int | None, str] = dict(
        User.objects.filter(pk__in={use.user_id for use in uses}).values_list("pk", "username")
    )
    names: dict[UsageBy, Callable[[LaneUse], tuple[str, str]]] = {
        UsageBy.PROJECT: lambda use: (str(use.project_id or ""), projects.get(use.project_id, DELETED)),
        UsageBy.USER: lambda use: (str(use.user_id or ""), users.get(use.user_id, DELETED)),
        UsageBy.ACCELERATOR: lambda use: (use.accelerator or "cpu",) * 2,
        UsageBy.POOL: lambda use: (use.pool,) * 2,
        UsageBy.NODE: lambda use: (use.label.partition("/")[0],) * 2,
        UsageBy.RUN: lambda use: (str(use.run_id), runs[use.run_id].name if use.run_id in runs else DELETED),
        UsageBy.BASE_MODEL: lambda use: (base_models.get(use.run_id, DELETED),) * 2,
    }
    named = names[by]
    return lambda use, begin, stop: [(*named(use), begin, stop)]


def days_between(begin: datetime, stop: datetime) -> Iterator[tuple[str, datetime, datetime]]:
    """Each day of UTC, with the part of the time that lies in it."""
    begin, stop = begin.astimezone(UTC), stop.astimezone(UTC)
    while begin < stop:
        midnight = datetime.combine(begin.date() + timedelta(days=1), time(), UTC)
        yield begin.date().isoformat(), begin, min(stop, midnight)
        begin = midnight
