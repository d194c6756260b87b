"""What would start now in place of a run that waits, and taking it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from accounts.models import Project, User
from audit.models import AuditEntry
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Pool
from fleet.selectors import grants_of
from fleet.shares.shares import set_share
from runs.models import Run
from runs.queue.alternatives import Alternative, Change, _smaller, alternatives
from runs.queue.asked_lanes import change_lanes
from runs.queue.dispatch import dispatch_waiting
from runs.transitions import RunStateConflict
from worker.contracts.lanes import DEFAULT_POOL, LaneSpec
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(make_run: Callable[..., Run], make_spec: Callable[..., RunSpec], project: Project) -> Callable[..., Run]:
    age = iter(range(3600, 0, -1))

    def make(*, of: Project | None = None, pipeline: Any = None, **lanes: Any) -> Run:
        sections = {"lanes": lanes} | ({} if pipeline is None else {"pipeline": pipeline})
        created_at = timezone.now() - timedelta(seconds=next(age))
        return make_run(project=of or project, spec=make_spec(**sections), created_at=created_at)

    return make


def sizes(found: list[Alternative]) -> dict[Change, tuple[int, int, int]]:
    return {one.change: (one.lanes.num_rollout, one.lanes.num_trainer, one.lanes.num_reward) for one in found}


@pytest.mark.parametrize(
    ("rollout", "trainer", "expected"),
    [
        (4, 2, [(3, 2), (3, 1), (2, 1), (1, 1)]),
        (1, 3, [(1, 2), (1, 1)]),
        (0, 3, [(0, 2), (0, 1)]),
        (1, 1, []),
    ],
)
def test_fewer_lanes_keep_the_proportion_and_one_of_each_role(
    rollout: int, trainer: int, expected: list[tuple[int, int]]
) -> None:
    found = list(_smaller(LaneSpec(num_rollout=rollout, num_trainer=trainer)))
    assert found == expected
    assert all(0 <= r <= rollout and 1 <= t <= trainer for r, t in found)


def test_the_largest_size_that_fits_the_free_lanes_is_proposed_and_starts_once_taken(
    waiting: Callable[..., Run], alice: User
) -> None:
    ensure_local_lanes(num_cpu_lanes=7)
    holder = waiting()
    assert dispatch_waiting() == [holder.pk]
    run = waiting(num_rollout=4, num_trainer=2)
    found = alternatives(run)
    assert sizes(found) == {Change.FEWER_LANES: (2, 1, 1)}
    assert found[0].slow_down is None or found[0].slow_down > 1
    assert dispatch_waiting() == []
    change_lanes(user=alice, run=run, lanes={"num_rollout": 2, "num_trainer": 1})
    assert dispatch_waiting() == [run.pk]
    assert [grant.lane for grant in grants_of(run.pk, 1)] == ["rollout-0", "rollout-1", "trainer-0", "reward-0"]
    entry = AuditEntry.objects.get(action="run.change_lanes")
    assert entry.changes == {"num_rollout": 2, "num_trainer": 1}
    assert run.spec["lanes"]["num_rollout"] == 4, "what the user first asked for stays written"


def test_fewer_reward_lanes_are_an_alternative_of_their_own(waiting: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    assert len(dispatch_waiting()) == 0
    waiting()
    dispatch_waiting()
    assert sizes(alternatives(waiting(num_reward=3))) == {Change.FEWER_REWARD_LANES: (1, 1, 1)}


def test_lanes_of_a_colocated_run_are_one_number(waiting: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=5)
    waiting()
    dispatch_waiting()
    found = alternatives(waiting(num_rollout=1, num_trainer=1, pipeline={"placement": "colocated"}))
    assert sizes(found) == {Change.FEWER_LANES: (0, 1, 1)}


def test_nothing_is_proposed_that_would_delay_a_run_ahead(waiting: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    waiting()
    dispatch_waiting()
    waiting(num_rollout=3)
    assert alternatives(waiting(num_rollout=2, num_trainer=2)) == []


def test_a_limit_counts(waiting: Callable[..., Run], make_user: Callable[..., User], project: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=12)
    admin = make_user("pool-admin", is_pool_admin=True)
    set_share(user=admin, project=project, pool=Pool.objects.get(), limit=7)
    waiting()
    dispatch_waiting()
    assert sizes(alternatives(waiting(num_rollout=4, num_trainer=2))) == {Change.FEWER_LANES: (2, 1, 1)}


def test_what_starts_by_itself_or_does_not_wait_has_no_alternative(waiting: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=12)
    run = waiting(num_rollout=4)
    assert alternatives(run) == []
    dispatch_waiting()
    assert alternatives(Run.objects.get(pk=run.pk)) == []


def test_the_planner_is_asked_where_it_places_the_run(waiting: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=7)
    waiting()
    dispatch_waiting()
    (found,) = alternatives(waiting(num_rollout=4, num_trainer=2, pipeline={"placement": "auto"}))
    assert found.lanes.num_rollout + found.lanes.num_trainer == 3
    assert found.slow_down is not None and found.slow_down > 1


@pytest.mark.parametrize("lanes", [{"num_trainer": 0}, {"num_rollout": 99}, {"pool": "nowhere"}])
def test_lanes_that_could_not_be_asked_for_are_refused_by_field(
    waiting: Callable[..., Run], alice: User, lanes: dict[str, Any]
) -> None:
    ensure_local_lanes(num_cpu_lanes=4)
    with pytest.raises(ValidationError) as refused:
        change_lanes(user=alice, run=waiting(), lanes=lanes)
    assert list(refused.value.message_dict) == [f"lanes.{name}" for name in lanes]


def test_only_members_who_control_runs_change_lanes_and_only_while_the_run_waits(
    waiting: Callable[..., Run], alice: User, viewer: User
) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    run = waiting()
    with pytest.raises(PermissionDenied):
        change_lanes(user=viewer, run=run, lanes={"num_reward": 2})
    dispatch_waiting()
    with pytest.raises(RunStateConflict):
        change_lanes(user=alice, run=run, lanes={"num_reward": 2})


def test_another_pool_that_has_free_lanes_is_proposed(waiting: Callable[..., Run], alice: User) -> None:
    from fleet.models import Lane

    ensure_local_lanes(num_cpu_lanes=6)
    other = Pool.objects.create(name="spare", match_labels={"pool": "spare"}, order=1)
    Lane.objects.filter(pk__in=Lane.objects.values("pk")[:3]).update(pool=other)
    waiting()
    dispatch_waiting()
    run = waiting()
    (found,) = alternatives(run)
    assert (found.change, found.lanes.pool) == (Change.OTHER_POOL, "spare")
    change_lanes(user=alice, run=run, lanes={"pool": "spare"})
    assert dispatch_waiting() == [run.pk]
    assert DEFAULT_POOL != "spare"
