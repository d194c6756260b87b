"""The pools as a user may see them: each with its lanes, the runs that hold them, and how many wait."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from accounts.access import Actor, visible_projects
from fleet.models import Lane, Pool, ProjectShare
from fleet.selectors import lanes_with_places
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
    lanes = list(lanes_with_places())
    waiting = dict(waiting_runs().order_by().values_list("pool").annotate(Count("pk")))
    run_names = dict(visible_runs(user).filter(pk__in={lane.run_id for lane in lanes}).values_list("pk", "name"))
    kept_out = ProjectShare.objects.filter(max_lanes=0, project__in=visible_projects(user))
    projects = list(kept_out.values_list("pool", "project"))
    return [
        PoolOverview(
            name=pool.name,
            description=pool.description,
            match_labels=pool.match_labels,
            order=pool.order,
            half_life_hours=policy_of(pool.name).half_life_hours,
            lanes=tuple(_counted(lane for lane in lanes if lane.pool_id == pool.pk)),
            runs=tuple(_holding((lane for lane in lanes if lane.pool_id == pool.pk), run_names)),
            num_waiting=waiting.get(pool.pk, 0),
            kept_out=tuple(project for name, project in projects if name == pool.pk),
        )
        for pool in pools
    ]


def _counted(lanes: Iterable[Lane]) -> list[LaneCount]:
    counts = Counter((lane.kind, lane.accelerator or lane.kind, _state(lane)) for lane in lanes)
    return [LaneCount(kind, device, state, number) for (kind, device, state), number in sorted(counts.items())]


def _state(lane: Lane) -> PoolState:
    standing = of_lane(lane)
    return PoolState.ALLOCATED if standing.takes_work and lane.held_since is not None else standing.state


def _holding(lanes: Iterable[Lane], names: Mapping[UUID, str]) -> list[HoldingRun]:
    held = Counter(lane.run_id for lane in lanes if lane.run_id in names)
    return [HoldingRun(run, names[run], number) for run, number in held.items() if run is not None]
