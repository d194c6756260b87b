"""The queue of a pool: the runs that wait for lanes there, in the order in which they get them.

    priority, then age ─► fair share between projects ─► places that admins gave ─► limits of projects
    (in a project)        (`fleet.fair_share`)           (`runs.queue.queue_places`)  and budgets

A run whose project holds as many lanes of the pool as it may is stopped: it waits until some of them are free. So is
one whose project has spent its budget: it waits for a new one.

Invariant: nothing about one pool changes the queue of another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from fleet.fair_share import Share, Waiting, ranked, within_limits
from fleet.lane_demand import kinds_wanted
from fleet.selectors import all_lanes, pool_lanes
from fleet.shares.shares import held_lanes, scarce_kind, shares, used_lane_hours
from fleet.shares.spending import projects_held_back
from runs.models import Attempt, QueuePlace, Run
from worker.contracts.states import RunState

WAITING_STATES = (RunState.QUEUED, RunState.STARTING)
NOT_READ = (
    *("prompts", "num_prompts", "spec", "algebra", "headline", "failure", "notes", "tags", "parent", "archived_at"),
    *("phase", "policy_version", "started_at", "ended_at", "ending", "ending_at", "last_heartbeat_at"),
)
"""Columns that are read for single runs only: a thousand specs take a second to read, and their order needs none."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The runs that wait for one pool, as one moment has them."""

    in_turn: tuple[Run, ...] = ()
    stopped: tuple[Run, ...] = ()
    """Runs whose project holds as many lanes as it may, or has spent its budget."""
    spent: frozenset[UUID] = frozenset()
    """Projects of the latter kind."""
    order: tuple[Run, ...] = ()
    """Both, in the order in which limits are applied to them."""
    places: Mapping[UUID, QueuePlace] = field(default_factory=dict)
    """By run: the places that admins gave."""

    def position(self, run_id: UUID) -> int | None:
        """The number of runs that are served before it; `None` for one that is not in turn."""
        keys = [run.pk for run in self.in_turn]
        return keys.index(run_id) if run_id in keys else None


def waiting_runs() -> QuerySet[Run]:
    """Runs that wait for lanes, without an order. Those in `starting` lost their driver."""
    open_attempts = Attempt.objects.filter(run=OuterRef("pk"), ended_at=None)
    return Run.objects.filter(Q(state=RunState.QUEUED) | Q(~Exists(open_attempts), state=RunState.STARTING))


def pools_with_queues() -> list[str]:
    """Names of the pools that runs wait for, also of those that do not exist any more, the longest-waiting first."""
    oldest = waiting_runs().order_by().values("pool").annotate(since=Min("created_at"))
    return list(oldest.order_by("since", "pool").values_list("pool", flat=True))


def current_queue(
    pool: str, changed: Mapping[UUID, Share] | None = None, half_life_hours: float | None = None
) -> Queue:
    """The queue of the pool now. With `changed`, as it would be if these projects had these shares of it; with
    `half_life_hours`, if use counted half after that."""
    runs = {run.pk: run for run in waiting_runs().filter(pool=pool).defer(*NOT_READ)}
    if not runs:
        return Queue()
    kind, lanes = scarce_kind(pool), pool_lanes(pool) or all_lanes(pool)
    waiting = [
        Waiting(
            run=run.pk,
            project=run.project_id,
            num_lanes=kinds_wanted(run.asked_lanes, lanes).get(kind, 0),
            priority=run.priority,
            since=run.created_at.timestamp(),
        )
        for run in runs.values()
    ]
    held, may_have = held_lanes(pool, kind), {**shares(pool), **(changed or {})}
    by_share = ranked(
        waiting,
        held=held,
        used=used_lane_hours(pool, kind, timezone.now(), half_life_hours),
        shares=may_have,
        num_lanes=all_lanes(pool).get(kind, 0),
    )
    given = list(QueuePlace.objects.filter(run__in=runs, attempt=F("run__attempt")))
    order, spent = placed(by_share, given), frozenset(projects_held_back())
    payable = [place for place in order if place.project not in spent]
    served, over_limit = within_limits(payable, held=held, shares=may_have)
    stopped = [*over_limit, *(place for place in order if place.project in spent)]
    in_turn, waits_anyway, whole = (tuple(runs[place.run] for place in part) for part in (served, stopped, order))
    return Queue(in_turn, waits_anyway, spent, whole, {place.run_id: place for place in given})


def placed(order: Sequence[Waiting[UUID, UUID]], given: Sequence[QueuePlace]) -> list[Waiting[UUID, UUID]]:
    """The order with the places that admins gave."""
    places = {place.run_id: place for place in given}
    moved = [waiting for waiting in order if waiting.run not in places]
    waits = {str(waiting.run) for waiting in order}
    num_ahead = {run: len(waits & set(place.behind)) for run, place in places.items()}
    for waiting in sorted(order, key=lambda waiting: num_ahead.get(waiting.run, 0)):
        if waiting.run in places:
            moved.insert(num_ahead[waiting.run], waiting)
    return moved
