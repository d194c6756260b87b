"""Lanes asked back for runs that wait: which, with what notice, and what becomes of them."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Project
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, LaneLoan, Node, PoolPolicy, ServiceState
from fleet.states.state_changes import change_state
from runs.lending.borrowing import lend_idle_lanes, lendable
from runs.lending.reclaiming import GRACE, ask_back, may_have_work
from runs.models import Attempt, AttemptOutcome, PendingCommand, Run, RunResize
from runs.queue.dispatch import dispatch_waiting
from runs.resizing.draining import drains
from runs.run_queue import waiting_runs
from tests.web.runs.elastic_runs import at_work, elastic_spec, join, lent, measure, report, set_share
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.resizing import LaneStep, ResizeCause, ResizeState
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]
MakeProject = Callable[..., Project]


@pytest.fixture
def attempt(attempt: Attempt) -> Attempt:
    """A run with a lane of each role and three borrowed ones, which are all that the pool has."""
    assert lend_idle_lanes() == 3
    join(attempt)
    return attempt


def notices() -> list[RunResize]:
    return list(RunResize.objects.filter(cause=ResizeCause.RECLAIM).order_by("created_at"))


def asked_of(row: RunResize) -> tuple[list[str], float | None]:
    """The lanes that a notice names, and its seconds."""
    args = PendingCommand.objects.get(pk=row.pk).args["resize"]
    return sorted(args["release"]), args["within_seconds"]


def give_back(row: RunResize, *, dropped: int = 0) -> None:
    lanes, _ = asked_of(row)
    report(row, ResizeState.DONE, dict.fromkeys(lanes, LaneStep.RELEASED), dropped=dropped)


def test_nothing_is_asked_back_while_nobody_waits(attempt: Attempt) -> None:
    assert ask_back() == 0


def test_a_round_has_work_while_a_run_waits_or_borrows(make_run: MakeRun) -> None:
    assert not may_have_work()
    waiting = make_run(spec=elastic_spec())
    assert may_have_work()
    Run.objects.filter(pk=waiting.pk).update(state=RunState.CANCELLED)
    assert not may_have_work()


def test_a_round_has_work_while_lanes_are_on_loan(attempt: Attempt) -> None:
    assert not waiting_runs().exists()
    assert may_have_work()


def test_the_next_run_in_turn_gets_borrowed_lanes_back_within_the_pools_seconds(
    attempt: Attempt, make_run: MakeRun
) -> None:
    waiting = make_run(spec=elastic_spec())
    assert dispatch_waiting() == []
    assert ask_back() == 3
    (row,) = notices()
    assert asked_of(row) == (["rollout-1", "rollout-2", "rollout-3"], 30.0)
    assert ask_back() == 0, "a lane is asked back once"
    assert sum(lendable(DEFAULT_POOL).values()) == 0
    give_back(row, dropped=1)
    loans = LaneLoan.objects.all()
    assert all(loan.until and loan.notice_at and loan.for_run_id == waiting.pk for loan in loans)
    assert [loan.num_dropped for loan in loans] == [1, 1, 1]
    assert loans[0].end_reason == f"run {waiting.name} is next in turn and lacks lanes"
    assert lend_idle_lanes() == 0, "the lanes are kept for the run"
    assert dispatch_waiting() == [waiting.pk]
    assert Lane.objects.filter(run_id=attempt.run_id).count() == 3, "the borrower keeps its own"


def test_no_more_lanes_are_asked_back_than_the_run_lacks_and_the_newest_loans_first(
    make_run: MakeRun, project: Project
) -> None:
    ensure_local_lanes(num_cpu_lanes=7)
    first = at_work(make_run, project)
    measure(first)
    assert lend_idle_lanes() == 3
    join(first)
    LaneLoan.objects.filter(name_in_run="rollout-2").update(since=timezone.now() + timedelta(seconds=9))
    make_run(spec=elastic_spec(lanes={"num_reward": 1}))
    assert ask_back() == 2, "one lane is free"
    (row,) = notices()
    lanes, _ = asked_of(row)
    assert "rollout-2" in lanes
    assert len(lanes) == 2


def test_nothing_is_asked_back_for_a_run_that_could_not_begin_with_it(attempt: Attempt, make_run: MakeRun) -> None:
    make_run(spec=elastic_spec(lanes={"num_rollout": 2, "num_trainer": 2}))
    assert ask_back() == 0, "three loans, and it lacks five lanes"


def test_the_policy_says_how_many_seconds_a_lane_has(attempt: Attempt, make_run: MakeRun) -> None:
    PoolPolicy.objects.create(pool_id=DEFAULT_POOL, reclaim_seconds=3.0)
    make_run(spec=elastic_spec())
    ask_back()
    assert asked_of(notices()[0])[1] == 3.0
    assert LaneLoan.objects.filter(bound_seconds=3.0).count() == 3


def test_lanes_that_have_not_joined_yet_are_asked_back_too(make_run: MakeRun, project: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    attempt = at_work(make_run, project)
    measure(attempt)
    lend_idle_lanes()
    make_run(spec=elastic_spec())
    assert ask_back() == 3, "while the resize that adds them is under way"
    give_back(notices()[0])
    assert lent(attempt) == []


def test_who_is_within_its_guarantee_gets_lanes_of_runs_beyond_theirs_down_to_their_least(
    make_run: MakeRun, make_project: MakeProject, project: Project
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    spec = elastic_spec(lanes={"num_rollout": 4}, elastic={"min_rollout": 1})
    attempt = at_work(make_run, project, spec)
    owner = make_project("Owner")
    waiting = make_run(project=owner, spec=elastic_spec())
    assert ask_back() == 0, "nobody is guaranteed anything"
    set_share(owner, guaranteed=3)
    set_share(project, guaranteed=4)
    assert ask_back() == 0, "two beyond the guarantee of the run's project do not suffice"
    set_share(project, guaranteed=3)
    assert ask_back() == 3
    row = notices()[0]
    assert asked_of(row) == (["rollout-1", "rollout-2", "rollout-3"], 30.0)
    give_back(row)
    assert dispatch_waiting() == [waiting.pk]
    loans = LaneLoan.objects.filter(run_id=attempt.run_id)
    assert {loan.lender for loan in loans} == {owner}
    assert all(loan.resize is None and loan.predicted_gain_seconds is None for loan in loans)


def test_a_run_that_must_keep_its_lanes_keeps_them(
    make_run: MakeRun, make_project: MakeProject, project: Project
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    at_work(make_run, project, elastic_spec(lanes={"num_rollout": 4}, elastic={"min_rollout": 2}))
    owner = make_project("Owner")
    make_run(project=owner, spec=elastic_spec())
    set_share(owner, guaranteed=3)
    assert ask_back() == 0


def test_a_trainer_lane_leaves_at_a_checkpoint_without_a_bound(
    make_run: MakeRun, make_project: MakeProject, project: Project
) -> None:
    ensure_local_lanes(num_cpu_lanes=5)
    at_work(make_run, project, elastic_spec(lanes={"num_trainer": 3}, elastic={"min_trainer": 1}))
    owner = make_project("Owner")
    make_run(project=owner, spec=elastic_spec(lanes={"num_rollout": 0}, pipeline={"placement": "colocated"}))
    set_share(owner, guaranteed=2)
    assert ask_back() == 2
    assert asked_of(notices()[0]) == (["trainer-1", "trainer-2"], None)
    late = timezone.now() - timedelta(days=1)
    LaneLoan.objects.update(notice_at=late)
    assert ask_back() == 0
    assert Attempt.objects.get().ended_at is None


def test_a_lane_that_the_driver_refuses_to_give_back_is_asked_for_again(attempt: Attempt, make_run: MakeRun) -> None:
    make_run(spec=elastic_spec())
    ask_back()
    (row,) = notices()
    lanes, _ = asked_of(row)
    report(row, ResizeState.FAILED, dict.fromkeys(lanes, LaneStep.KEPT))
    assert LaneLoan.objects.filter(notice_at=None).count() == 3
    assert ask_back() == 3


def test_a_refusal_of_another_notice_withdraws_nothing(attempt: Attempt, make_run: MakeRun) -> None:
    make_run(spec=elastic_spec())
    ask_back()
    other = RunResize.objects.create(
        run=attempt.run, attempt=attempt.number, cause=ResizeCause.RECLAIM.value, state="requested"
    )
    report(other, ResizeState.FAILED, dict.fromkeys(asked_of(notices()[0])[0], LaneStep.KEPT))
    assert LaneLoan.objects.filter(notice_at=None).count() == 0
    assert ask_back() == 0


def test_a_driver_that_gives_nothing_back_long_after_the_bound_counts_as_lost(
    attempt: Attempt, make_run: MakeRun
) -> None:
    make_run(spec=elastic_spec())
    ask_back()
    LaneLoan.objects.update(notice_at=timezone.now() - timedelta(seconds=30) - GRACE + timedelta(seconds=5))
    ask_back()
    attempt.refresh_from_db()
    assert attempt.ended_at is None
    LaneLoan.objects.update(notice_at=timezone.now() - timedelta(seconds=31) - GRACE)
    ask_back()
    attempt.refresh_from_db()
    assert attempt.outcome == AttemptOutcome.LOST
    assert "has not given local/cpu-" in attempt.detail
    assert Run.objects.get(pk=attempt.run_id).run_state is RunState.STARTING


def test_borrowed_lanes_leave_a_draining_node_at_once_and_nothing_takes_their_place(attempt: Attempt) -> None:
    change_state(
        Node.objects.get(name="local"),
        ServiceState.DRAINING,
        by="pool-admin",
        reason="new fans",
        until=timezone.now() + timedelta(hours=1),
    )
    (drain,) = drains()
    assert sorted(lane.name for lane in drain.lanes) == ["reward-0", "rollout-0", "trainer-0"]
    assert ask_back() == 3
    assert LaneLoan.objects.filter(for_run_id=None, end_reason="node local is draining").count() == 3
