"""Each pool has a queue and shares of its own, and nothing that happens in one delays another."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Project, User
from fleet.fair_share import Share
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Node, Pool
from fleet.pools.annotate import annotate
from fleet.pools.pool_membership import assign_pools
from fleet.selectors import free_lanes
from fleet.shares.pool_policies import set_policy
from fleet.shares.shares import set_share
from runs.models import Run
from runs.planning.plan_cache import PlanBeingMade
from runs.queue import dispatch
from runs.queue.dispatch import dispatch_waiting
from runs.run_queue import current_queue, pools_with_queues
from runs.spec_check import check_spec
from runs.wait_reasons import why_waiting
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]
MakeSpec = Callable[..., RunSpec]


@pytest.fixture
def fast(admin: User) -> Pool:
    """6 CPU lanes in the pool `fast`, 6 in `default`."""
    for name in ("n0", "n1"):
        ensure_local_lanes(num_cpu_lanes=6, node=name)
    pool = Pool.objects.create(name="fast", order=1, match_labels={"model": "h100"})
    annotate(user=admin, on=Node.objects.get(name="n1"), labels={"model": "h100"})
    return pool


@pytest.fixture
def run_in(make_run: MakeRun, make_spec: MakeSpec) -> Callable[..., Run]:
    def make(pool: str, num_rollout: int = 1, **fields: Any) -> Run:
        lanes = {"pool": pool, "num_rollout": num_rollout}
        return make_run(spec=make_spec(lanes=lanes, priority=fields.pop("priority", "normal")), **fields)

    return make


def test_a_gang_that_is_stuck_in_one_pool_delays_nobody_in_another(fast: Pool, run_in: MakeRun) -> None:
    holder = run_in("fast")
    assert dispatch_waiting() == [holder.pk]
    stuck, behind = run_in("fast", num_rollout=4), run_in("fast")
    others = [run_in(DEFAULT_POOL), run_in(DEFAULT_POOL), run_in(DEFAULT_POOL)]
    assert dispatch_waiting() == [others[0].pk, others[1].pk]
    assert free_lanes("fast") == {"cpu": 3}, "kept for the gang"
    assert [run.pk for run in current_queue("fast").in_turn] == [stuck.pk, behind.pk]
    assert [run.pk for run in current_queue(DEFAULT_POOL).in_turn] == [others[2].pk]
    said = why_waiting([stuck, behind, others[2]])
    assert said[stuck.pk] == "needs 6 CPU lanes, free now: 3 CPU lanes"
    assert said[behind.pk] == "1 run ahead; needs 3 CPU lanes, free now: 3 CPU lanes"
    assert said[others[2].pk] == "needs 3 CPU lanes, free now: none"


@pytest.mark.parametrize("error", [PlanBeingMade("later"), RuntimeError("a bug")])
def test_what_fails_in_one_pool_stops_no_other_in_the_same_round(
    fast: Pool, run_in: MakeRun, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    run_in("fast")
    other = run_in(DEFAULT_POOL)
    assert pools_with_queues() == ["fast", DEFAULT_POOL]
    begin = dispatch.start_attempt

    def start(run: Run, num_overtaken: int) -> Any:
        if run.pool == "fast":
            raise error
        return begin(run, num_overtaken)

    monkeypatch.setattr(dispatch, "start_attempt", start)
    if isinstance(error, RuntimeError):
        with pytest.raises(ExceptionGroup):
            dispatch_waiting()
    else:
        assert dispatch_waiting() == [other.pk]
    assert Run.objects.get(pk=other.pk).state == "starting"


def test_shares_in_one_pool_order_only_its_queue(
    fast: Pool, run_in: MakeRun, admin: User, project: Project, make_project: Callable[..., Project]
) -> None:
    video = make_project("Video")
    default = Pool.objects.get(pk=DEFAULT_POOL)
    set_share(user=admin, project=video, pool=fast, guaranteed=3)
    set_share(user=admin, project=project, pool=default, limit=3)
    made = {
        (pool, owner.name): [run_in(pool, project=owner) for _ in range(2)]
        for pool in ("fast", DEFAULT_POOL)
        for owner in (project, video)
    }
    in_fast, in_default = current_queue("fast"), current_queue(DEFAULT_POOL)
    assert in_fast.in_turn[0] == made["fast", "Video"][0], "within its guarantee there"
    assert in_default.in_turn[0] == made[DEFAULT_POOL, "Shapes"][0]
    assert in_default.stopped == (made[DEFAULT_POOL, "Shapes"][1],)
    assert len(in_fast.in_turn) == 4
    started = set(dispatch_waiting())
    expected = [made["fast", "Video"][0], made["fast", "Shapes"][0]]
    expected += [made[DEFAULT_POOL, "Shapes"][0], made[DEFAULT_POOL, "Video"][0]]
    assert started == {run.pk for run in expected}


def test_use_in_one_pool_counts_in_no_other(
    fast: Pool, run_in: MakeRun, project: Project, make_project: Callable[..., Project]
) -> None:
    video = make_project("Video")
    run_in("fast", project=project)
    dispatch_waiting()
    for pool in ("fast", DEFAULT_POOL):
        run_in(pool, project=project)
        run_in(pool, project=video)
    assert [run.project for run in current_queue("fast").in_turn] == [video, project]
    assert [run.project for run in current_queue(DEFAULT_POOL).in_turn] == [project, video]


def test_a_changed_share_is_shown_in_the_queue_of_its_pool(
    fast: Pool, run_in: MakeRun, project: Project, make_project: Callable[..., Project], admin: User
) -> None:
    video = make_project("Video")
    first, second = run_in("fast", project=project), run_in("fast", project=video)
    assert list(current_queue("fast", {video.pk: Share(guaranteed=3)}).in_turn) == [second, first]
    assert list(current_queue("fast").in_turn) == [first, second]
    set_policy(user=admin, pool=fast, changes={"half_life_hours": 1})
    assert list(current_queue("fast").in_turn) == [first, second]


def test_priority_orders_the_runs_of_a_project_in_each_pool(fast: Pool, run_in: MakeRun, project: Project) -> None:
    for pool in ("fast", DEFAULT_POOL):
        runs = [run_in(pool, project=project, priority=name) for name in ("low", "normal", "high")]
        assert list(current_queue(pool).in_turn) == runs[::-1]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_happens_in_one_pool_the_order_in_another_stays(
    data: st.DataObject,
    run_in: MakeRun,
    project: Project,
    make_project: Callable[..., Project],
    fast: Pool,
    admin: User,
) -> None:
    default = Pool.objects.get(pk=DEFAULT_POOL)
    with transaction.atomic():
        owners = [project, make_project("Video"), make_project("Students")]
        sizes, shares = st.integers(1, 5), st.builds(Share, guaranteed=st.integers(0, 5), weight=st.floats(0, 4))
        runs = st.lists(st.tuples(st.sampled_from(owners), sizes, st.sampled_from(["high", "low"])), max_size=4)
        for owner, size, priority in data.draw(runs):
            run_in("fast", size, project=owner, priority=priority)
        dispatch.dispatch_pool("fast")
        before = current_queue("fast")
        for owner in owners:
            share = data.draw(shares)
            set_share(user=admin, project=owner, pool=default, guaranteed=share.guaranteed, weight=share.weight)
        for owner, size, priority in data.draw(runs):
            run_in(DEFAULT_POOL, size, project=owner, priority=priority)
        dispatch.dispatch_pool(DEFAULT_POOL)
        assert current_queue("fast") == before
        assert dispatch.dispatch_pool("fast") == []
        transaction.set_rollback(True)


def problems(make_spec: MakeSpec, project: Project | None = None, **lanes: Any) -> dict[str, list[str]]:
    return check_spec(make_spec(lanes=lanes), project).errors


def test_a_pool_that_is_not_there_is_refused_with_those_that_are(fast: Pool, make_spec: MakeSpec) -> None:
    assert problems(make_spec, pool="slow") == {"lanes.pool": ["`lanes.pool` must be one of fast, default, got slow"]}
    assert problems(make_spec, pool="fast") == {}


def test_a_project_that_is_kept_out_is_told_where_it_may_go(
    fast: Pool, make_spec: MakeSpec, project: Project, admin: User
) -> None:
    set_share(user=admin, project=project, pool=fast, limit=0)
    refused = "`lanes.pool` must be a pool that Shapes may use, got fast: it may use default"
    assert problems(make_spec, project, pool="fast") == {"lanes.pool": [refused]}
    assert problems(make_spec, project) == {}
    set_share(user=admin, project=project, pool=fast, limit=3)
    assert problems(make_spec, project, pool="fast") == {}
    (said,) = problems(make_spec, project, pool="fast", num_rollout=2)["lanes.pool"]
    assert "may hold 4 CPU lanes" in said and "may hold 3: ask for 3" in said


def test_a_run_that_the_pool_can_never_hold_is_refused_with_what_fits(
    fast: Pool, make_spec: MakeSpec, admin: User, project: Project
) -> None:
    ensure_local_lanes(num_cpu_lanes=9, node="n2")
    (said,) = problems(make_spec, pool="fast", num_rollout=6)["lanes.num_rollout"]
    assert said == (
        "`lanes.num_rollout` + `lanes.num_trainer` + `lanes.num_reward` must be ≤ 6 (CPU lanes of the pool fast), "
        "got 8: ask for 6 (4 rollout, 1 trainer, 1 reward), or choose the pool default"
    )
    (said,) = problems(make_spec, pool="fast", num_rollout=60)["lanes.num_rollout"]
    assert said.endswith("got 62: ask for 6 (4 rollout, 1 trainer, 1 reward)")
    set_share(user=admin, project=project, pool=Pool.objects.get(pk=DEFAULT_POOL), limit=0)
    (said,) = problems(make_spec, project, pool="fast", num_rollout=6)["lanes.num_rollout"]
    assert said.endswith("got 8: ask for 6 (4 rollout, 1 trainer, 1 reward)"), (
        "a pool that the project is kept out of is not offered"
    )


def test_a_pool_of_gpus_alone_says_how_rewards_can_be_had(make_spec: MakeSpec, db: None) -> None:
    ensure_local_lanes(num_cpu_lanes=0, gpu_indices=range(4), node="n0")
    refused = problems(make_spec)
    assert refused == {
        "lanes.num_reward": [
            "`lanes.num_reward` must be ≤ 0 (CPU lanes of the pool default), got 1: set `lanes.rewards_on` to own_gpu"
        ]
    }
    assert problems(make_spec, rewards_on="own_gpu") == {}


def test_a_pool_without_any_lanes_yet_refuses_nothing(make_spec: MakeSpec, db: None) -> None:
    Pool.objects.create(name="coming", order=1, match_labels={"model": "b200"})
    assign_pools()
    assert problems(make_spec, pool="coming", num_rollout=60) == {}
