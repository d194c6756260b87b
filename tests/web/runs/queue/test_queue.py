"""Fair share in the queue: guarantees, limits, use of late, and what a changed share would change."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from accounts.models import Project, User
from audit.models import AuditEntry
from fleet.fair_share import Share
from fleet.lane_layout import ensure_local_lanes
from fleet.models import BudgetPeriod, BudgetUnit, Gpu, LaneKind, LaneUse, Pool
from fleet.shares.pool_policies import policy_of, set_policy
from fleet.shares.shares import held_lanes, set_share, shares, used_lane_hours
from fleet.shares.spending import remove_budget, set_budget
from runs.models import Run
from runs.queue.dispatch import dispatch_waiting
from runs.queue.queue_board import queue_rows
from runs.run_queue import current_queue
from runs.wait_reasons import why_waiting
from tests.web.fleet.node_posts import alive, card, post_node
from worker.contracts.lanes import DEFAULT_POOL

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]
MakeProject = Callable[..., Project]


@pytest.fixture
def video(make_project: MakeProject) -> Project:
    return make_project("Video")


def used(project: Project, hours: float, *, ago: timedelta = timedelta()) -> None:
    now = timezone.now() - ago
    LaneUse.objects.create(
        label="gone/cpu-0",
        run_id=project.pk,
        role="rollout",
        name_in_run="rollout-0",
        project=project,
        since=now - timedelta(hours=hours),
        until=now,
    )


def default_pool() -> Pool:
    return Pool.objects.get(pk=DEFAULT_POOL)


def order() -> list[Run]:
    return list(current_queue(DEFAULT_POOL).in_turn)


def test_the_project_that_used_less_of_late_comes_first(make_run: MakeRun, project: Project, video: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    first, second = make_run(project=project), make_run(project=video)
    assert order() == [first, second]
    used(project, 5)
    assert order() == [second, first]
    used(video, 6)
    assert order() == [first, second]


def test_use_is_forgiven_with_time(make_run: MakeRun, project: Project, video: Project, admin: User) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    used(project, 8, ago=timedelta(hours=40))
    used(video, 4)
    first, second = make_run(project=video), make_run(project=project)
    assert order() == [second, first]
    set_policy(user=admin, pool=default_pool(), changes={"half_life_hours": 8760})
    assert (order(), policy_of(DEFAULT_POOL).half_life_hours) == ([first, second], 8760)


def test_what_is_guaranteed_comes_before_what_is_borrowed(
    make_run: MakeRun, project: Project, video: Project, admin: User
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    set_share(user=admin, project=video, pool=default_pool(), guaranteed=3)
    used(video, 100)
    first, second = make_run(project=project), make_run(project=video)
    assert order() == [second, first]
    assert dispatch_waiting() == [second.pk, first.pk]
    kinds = {run.project_id: 3 for run in (first, second)}
    assert held_lanes(DEFAULT_POOL, LaneKind.CPU) == kinds


def test_a_project_at_its_limit_waits_for_its_own_runs_and_bars_nobody(
    make_run: MakeRun, project: Project, video: Project, admin: User
) -> None:
    ensure_local_lanes(num_cpu_lanes=9)
    set_share(user=admin, project=project, pool=default_pool(), limit=3)
    runs = [make_run(project=project), make_run(project=project), make_run(project=video)]
    assert dispatch_waiting() == [runs[0].pk, runs[2].pk]
    queue = current_queue(DEFAULT_POOL)
    assert (queue.in_turn, queue.stopped) == ((), (runs[1],))
    assert why_waiting(runs)[runs[1].pk] == (
        "the project may hold 3 CPU lanes, and does, or would with this run: it waits for its other runs"
    )


def test_a_changed_share_is_shown_before_it_is_saved(
    make_run: MakeRun, project: Project, video: Project, admin: User
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    first, second = make_run(project=project), make_run(project=video)
    assert list(current_queue(DEFAULT_POOL, {video.pk: Share(guaranteed=3)}).in_turn) == [second, first]
    assert order() == [first, second]
    assert shares(DEFAULT_POOL) == {}


def test_use_counts_for_the_kind_of_lane_that_it_was(project: Project) -> None:
    used(project, 2)
    now = timezone.now()
    assert used_lane_hours(DEFAULT_POOL, LaneKind.GPU, now) == {}
    assert used_lane_hours(DEFAULT_POOL, LaneKind.CPU, now)[project.pk] == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("guaranteed_lanes", {"guaranteed": -1}),
        ("max_lanes", {"limit": 10**9}),
        ("max_lanes", {"guaranteed": 4, "limit": 3}),
        ("weight", {"weight": -0.1}),
        ("weight", {"weight": float("nan")}),
    ],
)
def test_shares_that_make_no_sense_are_refused_by_field(
    admin: User, project: Project, field: str, given: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError) as refused:
        set_share(user=admin, project=project, pool=default_pool(), **given)
    assert list(refused.value.message_dict) == [field]


@pytest.mark.parametrize("hours", [0, -1, float("inf"), float("nan")])
def test_half_lives_that_make_no_sense_are_refused(admin: User, hours: float) -> None:
    with pytest.raises(ValidationError):
        set_policy(user=admin, pool=default_pool(), changes={"half_life_hours": hours})


def test_only_pool_admins_set_shares_and_it_is_audited(alice: User, admin: User, project: Project) -> None:
    with pytest.raises(PermissionDenied):
        set_share(user=alice, project=project, pool=default_pool())
    set_share(user=admin, project=project, pool=default_pool(), guaranteed=2)
    (entry,) = AuditEntry.objects.all()
    assert (entry.action, entry.changes["guaranteed_lanes"]) == ("project.set_share", 2)


def test_a_project_that_has_spent_its_budget_waits_and_bars_nobody(
    admin: User, project: Project, make_run: Callable[..., Run], make_project: Callable[..., Project], alice: User
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    stopped, other = make_run(project=project), make_run(project=make_project("Others"))
    set_budget(user=admin, project=project, amount=Decimal(0), unit=BudgetUnit.GPU_HOURS, period=BudgetPeriod.WHOLE)
    queue = current_queue(DEFAULT_POOL)
    assert (list(queue.in_turn), list(queue.stopped)) == ([other], [stopped])
    assert why_waiting([stopped])[stopped.pk] == (
        "the project's budget of 0 GPU-hours is spent: the run waits for a new one"
    )
    (row,) = [row for row in queue_rows(alice, DEFAULT_POOL) if row.run_id == stopped.pk]
    assert [blocker.kind for blocker in row.blockers] == ["budget"]
    assert dispatch_waiting() == [other.pk]
    remove_budget(user=admin, project=project)
    assert dispatch_waiting() == [stopped.pk]


def test_runs_wait_for_gpus_that_are_out_of_service_and_do_not_begin_on_cpus(make_run: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    post_node(alive("gpu0"), card("GPU-a", 0), card("GPU-b", 1))
    Gpu.objects.update(state="cordoned")
    run = make_run()
    assert dispatch_waiting() == []
    assert "needs 2 GPU lanes" in why_waiting([run])[run.pk]
    Gpu.objects.update(state="active")
    assert dispatch_waiting() == [run.pk]
