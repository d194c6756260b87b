"""A simulated week of dispatch itself, on a clock of its own: two pools, three projects with other shares in each."""

import heapq
import random
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from accounts.models import Project, User
from fleet.fair_share import Share, entitlements
from fleet.lane_layout import ensure_local_lanes
from fleet.models import LaneUse, Node, Pool
from fleet.pools.annotate import annotate
from fleet.services import release
from fleet.shares.shares import set_share
from runs.models import Attempt, Run
from runs.queue.dispatch import dispatch_waiting
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
NUM_LANES = 15
BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
WEEK = timedelta(days=7)
SHARES = {
    "fast": {"vision": Share(guaranteed=6), "video": Share(guaranteed=2, weight=2), "students": Share()},
    DEFAULT_POOL: {"vision": Share(), "video": Share(), "students": Share(guaranteed=4, weight=4)},
}
SIZES = {"vision": (3, 6), "video": (4, 7), "students": (3, 3)}
HOURS = {"vision": (2.0, 10.0), "video": (3.0, 12.0), "students": (1.0, 6.0)}


class Clock:
    """What Django takes for the present."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock)
    return clock


@pytest.fixture
def projects(db: None, make_project: Callable[..., Project]) -> dict[str, Project]:
    """The projects by name, with their shares; `NUM_LANES` CPU lanes in each pool."""
    admin = User.objects.create_user("pool-admin", password="x", is_pool_admin=True)
    Pool.objects.create(name="fast", order=1, match_labels={"model": "h100"})
    for name in ("n0", "n1"):
        ensure_local_lanes(num_cpu_lanes=NUM_LANES, node=name)
    annotate(user=admin, on=Node.objects.get(name="n1"), labels={"model": "h100"})
    projects = {name: make_project(name) for name in SIZES}
    for pool, shares in SHARES.items():
        for name, share in shares.items():
            set_share(
                user=admin,
                project=projects[name],
                pool=Pool.objects.get(pk=pool),
                guaranteed=share.guaranteed,
                limit=share.limit,
                weight=share.weight,
            )
    return projects


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2718, 3141])
def test_over_a_week_each_pool_is_shared_as_its_own_shares_say(
    seed: int,
    clock: Clock,
    projects: dict[str, Project],
    make_run: Callable[..., Run],
    make_spec: Callable[..., RunSpec],
) -> None:
    chance = random.Random(seed)
    waiting: dict[tuple[str, str], set[Run]] = defaultdict(set)
    ends: list[tuple[datetime, str, Run]] = []
    last_start = dict.fromkeys(((pool, name) for pool in SHARES for name in SIZES), BEGIN)
    longest_wait = dict.fromkeys(last_start, timedelta())
    while clock.now < BEGIN + WEEK:
        for pool, name in last_start:
            while len(waiting[pool, name]) < 2:
                lanes = {"pool": pool, "num_rollout": chance.randint(*SIZES[name]) - 2}
                run = make_run(project=projects[name], spec=make_spec(lanes=lanes), created_at=clock.now)
                waiting[pool, name].add(run)
        started = set(dispatch_waiting())
        for key, runs in waiting.items():
            for run in [run for run in runs if run.pk in started]:
                runs.remove(run)
                longest_wait[key] = max(longest_wait[key], clock.now - last_start[key])
                last_start[key] = clock.now
                end = clock.now + timedelta(hours=chance.uniform(*HOURS[key[1]]))
                heapq.heappush(ends, (end, str(run.pk), run))
        clock.now, _, ended = heapq.heappop(ends)
        release(run_id=ended.pk, attempt=1)
        Attempt.objects.filter(run=ended).update(ended_at=clock.now)
        Run.objects.filter(pk=ended.pk).update(state="completed")
    for pool, shares in SHARES.items():
        gotten = lane_hours(pool, clock.now)
        entitled = entitlements(shares, NUM_LANES)
        parts = [gotten[projects[name].pk] / entitled[name] for name in shares]
        jain = sum(parts) ** 2 / (len(parts) * sum(part**2 for part in parts))
        assert jain >= 0.95, (pool, parts)
        for name in shares:
            # Its entitlement makes up for its last run, then lanes come free for the largest gang.
            largest = SIZES[name][1] * HOURS[name][1]
            bound = largest / entitled[name] + max(longest for _, longest in HOURS.values())
            assert longest_wait[pool, name] <= timedelta(hours=bound), (pool, name)


def lane_hours(pool: str, now: datetime) -> dict[object, float]:
    """Lane hours inside the week by project, of uses that counted for the pool."""
    total: dict[object, float] = defaultdict(float)
    for use in LaneUse.objects.filter(pool=pool):
        end = min(use.until or now, BEGIN + WEEK)
        total[use.project_id] += (end - use.since).total_seconds() / 3600
    return total
