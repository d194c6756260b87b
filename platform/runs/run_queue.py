"""The queue of a pool: the runs that wait for lanes there, in the order in which they get them.

Within their project by priority, then age; between projects by fair share (`fleet.fair_share`). A run whose project
holds as many lanes of the pool as it may is stopped: it waits until some of them are free.

Invariant: nothing about one pool changes the queue of another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from fleet.fair_share import Share, Waiting, in_turn
from fleet.lane_demand import kinds_wanted
from fleet.selectors import all_lanes, pool_lanes
from fleet.shares import held_lanes, scarce_kind, shares, used_lane_hours
from runs.models import Attempt, Run
from worker.contracts.states import RunState

WAITING_STATES = (RunState.QUEUED, RunState.STARTING)


@dataclass(frozen=True, slots=True)
class Queue:
    """The runs that wait for one pool, as one moment has them."""

    in_turn: tuple[Run, ...]
    stopped: tuple[Run, ...]
    """Runs whose project holds as many lanes as it may."""

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


def current_queue(pool: str, changed: Mapping[UUID, Share] | None = None) -> Queue:
    """The queue of the pool now. With `changed`, as it would be if these projects had these shares of it."""
    runs = {run.pk: run for run in waiting_runs().filter(pool=pool).defer("prompts")}
    if not runs:
        return Queue((), ())
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
    order = in_turn(
        waiting,
        held=held_lanes(pool, kind),
        used=used_lane_hours(pool, kind, timezone.now()),
        shares={**shares(pool), **(changed or {})},
        num_lanes=all_lanes(pool).get(kind, 0),
    )
    served = tuple(runs[place.run] for place in order)
    return Queue(served, tuple(run for run in runs.values() if run not in served))
