"""The forecast of the queue: when lanes come free, when each waiting run starts, and who may start ahead of others.

    attempts that hold lanes ─► `runs.forecast.run_ends` ─► Holding ─┐
    the queue's order ─► lanes wanted, duration ─► Demand ──┴─► `fleet.allocation.reservations` ─► starts, admission

Invariant: dispatch and the queue's page use the same ends, durations and reservations.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from fleet.allocation.bands import Band
from fleet.allocation.reservations import Admission, Demand, Holding, start_bands
from fleet.fair_share import Share
from fleet.lane_demand import fits, kinds_wanted
from fleet.models import LaneKind
from fleet.selectors import HeldLane, free_lanes, held_lanes_of, pool_lanes
from fleet.shares.shares import held_lanes, scarce_kind, shares
from runs.forecast.end_forecast import UNKNOWN, Outcome
from runs.forecast.run_ends import ends_of, whole_durations
from runs.models import Run
from runs.run_queue import Queue


@dataclass(frozen=True, slots=True)
class QueueForecast:
    """What is expected of the queue, in seconds from `at`."""

    at: datetime
    starts: Mapping[UUID, Band]
    """Of waiting runs; those of which it is unknown are left out."""
    durations: Mapping[UUID, Outcome]
    """How long each waiting run is going to hold its lanes."""
    ends: Mapping[UUID, Outcome]
    """Of runs that hold lanes."""


def forecast(queue: Queue, name: str, changed: Mapping[UUID, Share] | None = None) -> QueueForecast:
    """When the runs of a pool's queue start. Those that a limit stops are placed last, each for when its project holds
    fewer lanes: they may pass others then, so that their starts are later rather than too early.

    With `changed`, the queue is the one that `current_queue` gives for them.
    """
    now, kind, pool, held = timezone.now(), scarce_kind(name), pool_lanes(name), held_lanes_of(name)
    limits = {
        project: share.limit
        for project, share in {**shares(name), **(changed or {})}.items()
        if share.limit is not None
    }
    ends = ends_of({lane.run_id for lane in held if lane.run_id}, now)
    runs = [run for run in (*queue.in_turn, *queue.stopped) if fits(run.asked_lanes, pool, pool)]
    durations = whole_durations(runs)
    free = Counter(resources(free_lanes(name)))
    counted = held_lanes(name, kind)
    for project, limit in limits.items():
        free[_limit_of(project)] = limit - counted.get(project, 0)
    demands = []
    for run in runs:
        wanted = resources(kinds_wanted(run.asked_lanes, pool))
        of_limit = {_limit_of(run.project_id): wanted.get(kind, 0)} if run.project_id in limits else {}
        demands.append(Demand(run.pk, wanted | of_limit, durations[run.pk].band))
    starts = start_bands(free, holdings(held, ends, set(limits), kind), demands)
    return QueueForecast(now, starts, durations, ends)


def admission(waiting: Iterable[Run], name: str) -> tuple[Admission[UUID], dict[UUID, Demand[UUID]]]:
    """Who of these runs may start now in the pool of this name, and what each needs, for dispatch to ask in order."""
    now, pool, held = timezone.now(), pool_lanes(name), held_lanes_of(name)
    runs = list(waiting)
    durations = whole_durations(runs)
    demands = {
        run.pk: Demand(run.pk, resources(kinds_wanted(run.asked_lanes, pool)), durations[run.pk].band) for run in runs
    }
    ends = ends_of({lane.run_id for lane in held if lane.run_id}, now)
    return Admission(resources(free_lanes(name)), holdings(held, ends, (), scarce_kind(name))), demands


def holdings(
    held: Iterable[HeldLane], ends: Mapping[UUID, Outcome], limited: Iterable[UUID], scarce: LaneKind
) -> list[Holding]:
    """What each holder gives back when it ends: its lanes that take work, and to a limited project what counted."""
    by_holder: dict[UUID | None, Counter[str]] = {}
    limits = set(limited)
    for lane in held:
        # Previews and tests end by themselves, but nothing tells when.
        holder = lane.run_id if lane.attempt is not None else None
        given_back = by_holder.setdefault(holder, Counter())
        if lane.takes_work:
            given_back[lane.kind.value] += 1
        if lane.project_id in limits and lane.kind == scarce:
            given_back[_limit_of(lane.project_id)] += 1
    return [
        Holding(given_back, None if holder is None else ends.get(holder, UNKNOWN).band)
        for holder, given_back in by_holder.items()
    ]


def resources(lanes: Mapping[LaneKind, int]) -> dict[str, int]:
    """Lanes by kind, as reservations count them."""
    return {kind.value: number for kind, number in lanes.items()}


def _limit_of(project: UUID | None) -> str:
    """What is left of a project's limit, as a resource."""
    return f"limit of {project}"
