"""The queue of a pool as a user may see it: who waits, with forecast and blockers, and who holds lanes until when.

Invariant: runs of projects that are not the user's are counted, and never named. What an admin did to the order is for
everybody to see, with the reason.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from accounts.access import (
    TO_CONTROL_RUNS,
    Actor,
    is_pool_admin,
    projects_with_role,
    require_pool_admin,
    visible_projects,
)
from accounts.models import Project
from fleet.allocation.bands import Band
from fleet.fair_share import Share
from fleet.lane_demand import kinds_wanted
from fleet.selectors import all_lanes, held_lanes_of, pool_lanes
from fleet.shares.shares import shares
from runs.forecast.end_forecast import UNKNOWN, Basis
from runs.forecast.run_ends import ends_of
from runs.models import Attempt, Run
from runs.queue.queue_blockers import Blocker, blockers
from runs.queue.queue_forecast import QueueForecast, forecast
from runs.run_queue import Queue, current_queue
from runs.wait_reasons import LanesOfPool, sentences
from worker.contracts.names import Priority

SOMEBODY_ELSES = "a run of another project"


@dataclass(frozen=True, slots=True)
class Times:
    """A forecast time, as a band."""

    earliest: datetime
    likely: datetime
    latest: datetime


@dataclass(frozen=True, slots=True)
class Ahead:
    """The runs that are served before one."""

    num_runs: int
    num_runs_of_others: int
    """Those of projects that are not the user's."""
    num_other_projects: int
    lanes: Mapping[str, int]
    """Lanes that all of them want, by kind."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What an admin did to a run's place."""

    words: str
    by: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A run that waits."""

    pool: str
    position: int | None
    """Runs that are served before it; `None` for one that its project's limit stops."""
    run_id: UUID | None
    """Empty, and so are the next ones, for a run of a project that is not the user's."""
    run_name: str
    project_id: UUID | None
    project_name: str
    priority: Priority
    lanes: Mapping[str, int]
    """Lanes that it wants, by kind."""
    since: datetime
    why: str
    """What it waits for, in one sentence."""
    starts: Times | None
    """When it is expected to start, if nobody else joins the queue and its order stays; `None` if unknown."""
    duration_basis: Basis
    """What is known of how long it is going to hold its lanes."""
    blockers: tuple[Blocker, ...]
    ahead: Ahead
    moved: Moved | None
    may_change: bool
    """Whether the user may change its priority and its lanes."""


@dataclass(frozen=True, slots=True)
class RunningRow:
    """A run that holds lanes of the pool."""

    pool: str
    run_id: UUID | None
    """Empty, and so are the next ones, for a run of a project that is not the user's."""
    run_name: str
    project_id: UUID | None
    project_name: str
    state: str
    num_batches: int | None
    num_batches_done: int | None
    lanes: Mapping[str, int]
    """Lanes of the pool that it holds, by kind."""
    since: datetime
    ends: Times | None
    """When it is expected to end; `None` if unknown."""
    basis: Basis
    num_overtaken: int
    """Runs that were ahead of it in the queue when it was started without delaying any of them."""


def queue_rows(
    user: Actor,
    pool: str,
    changed: Mapping[UUID, Share] | None = None,
    half_life_hours: float | None = None,
) -> list[QueueRow]:
    """The runs that wait for the pool, in the order in which they are served, then those that a limit stops.

    With `changed` and `half_life_hours`, as it would be if these projects had these shares of it, and use were forgiven
    as fast; that is for pool admins (`PermissionDenied`).
    """
    is_preview = changed is not None or half_life_hours is not None
    if is_preview:
        require_pool_admin(user, {pool})
    queue = current_queue(pool, changed, half_life_hours)
    return _Board(user, pool, queue, forecast(queue, pool, changed), {**shares(pool), **(changed or {})}).rows()


class _Board:
    """The rows of one pool's queue for one user, from what was read once for all of them."""

    def __init__(
        self, user: Actor, pool: str, queue: Queue, expected: QueueForecast, limits: Mapping[UUID, Share]
    ) -> None:
        self._user, self._pool, self._queue, self._expected, self._limits = user, pool, queue, expected, limits
        self._names = project_names(user)
        self._controlled = projects_with_role(user, TO_CONTROL_RUNS)
        self._counted = pool_lanes(pool) or all_lanes(pool)
        self._lanes = LanesOfPool(pool)
        self._why = sentences(queue, self._lanes)
        self._ahead: Counter[str] = Counter()
        self._projects_ahead: Counter[UUID] = Counter()

    def rows(self) -> list[QueueRow]:
        rows = []
        for position, run in enumerate(self._queue.in_turn):
            rows.append(self._row(run, position))
            self._ahead.update(self._wanted(run))
            self._projects_ahead[run.project_id] += 1
        return rows + [self._row(run, None) for run in self._queue.stopped]

    def _row(self, run: Run, position: int | None) -> QueueRow:
        is_seen, start = run.project_id in self._names, self._expected.starts.get(run.pk)
        place = self._queue.places.get(run.pk)
        limit = self._limits.get(run.project_id, Share()).limit if position is None else None
        return QueueRow(
            pool=self._pool,
            position=position,
            run_id=run.pk if is_seen else None,
            run_name=run.name if is_seen else SOMEBODY_ELSES,
            project_id=run.project_id if is_seen else None,
            project_name=self._names.get(run.project_id, ""),
            priority=list(Priority)[run.priority],
            lanes=self._wanted(run),
            since=run.created_at,
            why=self._why.get(run.pk, "") if is_seen else "",
            starts=times(self._expected.at, start),
            duration_basis=self._expected.durations.get(run.pk, UNKNOWN).basis,
            blockers=blockers(
                kinds_wanted(run.asked_lanes, self._counted),
                self._lanes,
                num_ahead=position or 0,
                limit=limit,
                budget=self._budget(run, is_seen=is_seen),
            ),
            ahead=self._ahead_of(position),
            moved=None if place is None else Moved(place.words, place.moved_by, place.reason, place.moved_at),
            may_change=run.project_id in self._controlled,
        )

    def _budget(self, run: Run, *, is_seen: bool) -> str:
        """That the run's project has spent what it may; how much that is, only for those who may see the run."""
        if run.project_id not in self._queue.spent:
            return ""
        return self._why.get(run.pk, "") if is_seen else "its project has spent its budget"

    def _ahead_of(self, position: int | None) -> Ahead:
        others = {project: number for project, number in self._projects_ahead.items() if project not in self._names}
        if position is None:
            return Ahead(0, 0, 0, {})
        return Ahead(position, sum(others.values()), len(others), dict(self._ahead))

    def _wanted(self, run: Run) -> dict[str, int]:
        return {kind.value: number for kind, number in kinds_wanted(run.asked_lanes, self._counted).items()}


def running_rows(user: Actor, pool: str) -> list[RunningRow]:
    """The runs that hold lanes of the pool: the first to end first, those of which that is unknown last."""
    held: dict[UUID, Counter[str]] = {}
    for lane in held_lanes_of(pool):
        if lane.run_id is not None and lane.attempt is not None:
            held.setdefault(lane.run_id, Counter())[lane.kind.value] += 1
    now, names, rows = timezone.now(), project_names(user), []
    ends = ends_of(held, now)
    attempts = Attempt.objects.filter(run_id__in=held, ended_at=None).select_related("run").defer("run__prompts")
    for attempt in attempts:
        run, outcome = attempt.run, ends.get(attempt.run_id, UNKNOWN)
        is_seen = run.project_id in names
        rows.append(
            RunningRow(
                pool=pool,
                run_id=run.pk if is_seen else None,
                run_name=run.name if is_seen else SOMEBODY_ELSES,
                project_id=run.project_id if is_seen else None,
                project_name=names.get(run.project_id, ""),
                state=run.state,
                num_batches=run.num_batches if is_seen else None,
                num_batches_done=run.num_batches_done if is_seen else None,
                lanes=dict(held[run.pk]),
                since=attempt.created_at,
                ends=times(now, outcome.band),
                basis=outcome.basis,
                num_overtaken=attempt.num_overtaken,
            )
        )
    return sorted(rows, key=lambda row: (row.ends is None, row.ends.likely if row.ends else row.since))


def times(at: datetime, band: Band | None) -> Times | None:
    if band is None:
        return None
    return Times(*(at + timedelta(seconds=seconds) for seconds in (band.earliest, band.likely, band.latest)))


def project_names(user: Actor) -> dict[UUID, str]:
    """Names of the projects whose runs the user may see in the queue: of all, for pool admins."""
    projects = Project.objects.all() if is_pool_admin(user) else visible_projects(user)
    return dict(projects.values_list("pk", "name"))
