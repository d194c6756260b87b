"""The pools as a user may see them: each with its lanes, the runs that hold them, and how many wait."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from accounts.access import Actor, visible_projects
from fleet.models import Pool, ProjectShare
from fleet.selectors import holdings_by_pool, lanes_in_service, lanes_without_work
from fleet.shares.pool_policies import policy_of
from fleet.states.standing import PoolState, of_lane
from runs.run_queue import waiting_runs
from runs.selectors import visible_runs


@dataclass(frozen=True, slots=True)
class LaneCount:
    """Lanes of a pool that are alike."""

    kind: str
    device: str
    """Their accelerator, or `cpu`."""
    state: PoolState
    number: int


@dataclass(frozen=True, slots=True)
class HoldingRun:
    """A run that holds lanes of a pool; it may have been given them before labels moved the lanes there."""

    run_id: UUID
    run_name: str
    num_lanes: int


@dataclass(frozen=True, slots=True)
class PoolOverview:
    name: str
    description: str
    match_labels: Mapping[str, str]
    order: int
    half_life_hours: float
    lanes: tuple[LaneCount, ...]
    runs: tuple[HoldingRun, ...]
    """Those that the user may see."""
    num_waiting: int
    kept_out: tuple[UUID, ...]
    """Projects of the user that may hold no lane of the pool."""

    @property
    def num_lanes(self) -> int:
        return sum(count.number for count in self.lanes)


def pool_overviews(user: Actor, names: Iterable[str] | None = None) -> list[PoolOverview]:
    """All pools, or those of these names, in the order in which they match lanes."""
    pools = Pool.objects.all() if names is None else Pool.objects.filter(pk__in=names)
    lanes = _lane_counts()
    holdings = holdings_by_pool()
    holding = {run_id for held in holdings.values() for run_id in held}
    run_names = dict(visible_runs(user).filter(pk__in=holding).values_list("pk", "name"))
    waiting = dict(waiting_runs().order_by().values_list("pool").annotate(Count("pk")))
    kept_out = ProjectShare.objects.filter(max_lanes=0, project__in=visible_projects(user))
    projects = list(kept_out.values_list("pool", "project"))
    return [
        PoolOverview(
            name=pool.name,
            description=pool.description,
            match_labels=pool.match_labels,
            order=pool.order,
            half_life_hours=policy_of(pool.name).half_life_hours,
            lanes=tuple(lanes.get(pool.pk, ())),
            runs=tuple(
                HoldingRun(run_id, run_names[run_id], number)
                for run_id, number in holdings.get(pool.pk, {}).items()
                if run_id in run_names
            ),
            num_waiting=waiting.get(pool.pk, 0),
            kept_out=tuple(project for name, project in projects if name == pool.pk),
        )
        for pool in pools
    ]


def _lane_counts() -> dict[str, list[LaneCount]]:
    """The lanes of each pool that are alike. Those that take work are counted by the database: at every page's opening
    they are the many, and only why the few others take none is decided lane by lane."""
    counts: Counter[tuple[str, str, str, PoolState]] = Counter()
    for alike in lanes_in_service():
        state = PoolState.ALLOCATED if alike.are_held else PoolState.AVAILABLE
        counts[alike.pool, alike.kind, alike.device, state] += alike.number
    for lane in lanes_without_work():
        counts[lane.pool_id, lane.kind, lane.accelerator or lane.kind, of_lane(lane).state] += 1
    by_pool: dict[str, list[LaneCount]] = {}
    for (pool, kind, device, state), number in sorted(counts.items()):
        by_pool.setdefault(pool, []).append(LaneCount(kind, device, state, number))
    return by_pool
