"""Idle lanes lent to elastic runs: to whom, how many, whose they are, and when not."""

from collections.abc import Callable

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, LaneKind, LaneLoan, LaneUse
from fleet.services import release
from fleet.shares.shares import held_lanes
from runs.lending.borrowing import RETRY_AFTER, lend_idle_lanes, lendable
from runs.models import Attempt, PendingCommand, Run, RunResize
from runs.queue.dispatch import dispatch_waiting
from runs.resizing.resize_services import WantedResize, request_resize
from tests.web.runs.elastic_runs import at_work, elastic_spec, join, lent, measure, report, set_share
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneStep, ResizeCause, ResizeState, RoleChange
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]
MakeProject = Callable[..., Project]


def test_idle_lanes_join_a_run_that_generation_holds_up(attempt: Attempt) -> None:
    assert lend_idle_lanes() == 3, "up to its most"
    assert lent(attempt) == ["rollout-1", "rollout-2", "rollout-3"]
    (command,) = PendingCommand.objects.all()
    asked = command.args["resize"]
    assert (asked["cause"], asked["release"], asked["within_seconds"]) == ("borrow", [], None)
    assert all(grant["is_borrowed"] for grant in asked["add"])
    loan = LaneLoan.objects.filter(run_id=attempt.run_id)[0]
    assert (loan.resize, loan.num_lanes, loan.lender, loan.project) == (command.pk, 3, None, attempt.run.project)
    assert loan.predicted_seconds_before is not None
    assert loan.predicted_seconds is not None
    assert loan.predicted_seconds < 0.5 * loan.predicted_seconds_before
    assert loan.predicted_gain_seconds is not None
    assert loan.predicted_gain_seconds > 0
    assert "with 3 rollout lanes more a batch is predicted to take" in loan.reason
    assert lend_idle_lanes() == 0, "one resize at a time, and no more than its most"
    join(attempt)
    assert lend_idle_lanes() == 0


def test_a_run_that_training_holds_up_borrows_nothing(attempt: Attempt) -> None:
    measure(attempt, generate=0.01, train=5.0)
    assert lend_idle_lanes() == 0


def test_a_run_that_scoring_holds_up_borrows_reward_lanes(attempt: Attempt) -> None:
    measure(attempt, generate=0.1, train=0.01, score=2.0)
    assert lend_idle_lanes() == 1
    assert lent(attempt) == ["reward-1"]


def test_a_run_with_few_seconds_left_borrows_nothing(attempt: Attempt) -> None:
    Run.objects.filter(pk=attempt.run_id).update(num_batches_done=attempt.run.num_batches)
    assert lend_idle_lanes() == 0
    measure(attempt, generate=0.05)
    Run.objects.filter(pk=attempt.run_id).update(num_batches_done=attempt.run.num_batches - 1)
    assert lend_idle_lanes() == 0, "its last batch takes less than a lane's start"


def test_a_run_that_is_not_elastic_or_has_measured_nothing_borrows_nothing(make_run: MakeRun, project: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=8)
    measure(at_work(make_run, project, elastic_spec(elastic={})))
    at_work(make_run, project)
    assert lend_idle_lanes() == 0


@pytest.mark.parametrize("state", [RunState.PAUSED, RunState.STOPPING])
def test_only_a_run_that_works_borrows(attempt: Attempt, state: RunState) -> None:
    Run.objects.filter(pk=attempt.run_id).update(state=state.value)
    assert lend_idle_lanes() == 0


def test_lanes_that_a_run_in_turn_can_use_are_not_lent(attempt: Attempt, make_run: MakeRun) -> None:
    waiting = make_run(spec=elastic_spec())
    assert sum(lendable(DEFAULT_POOL).values()) == 0, "it needs three of the three free lanes"
    assert lend_idle_lanes() == 0
    assert dispatch_waiting() == [waiting.pk]


def test_lanes_that_do_not_suffice_for_the_next_run_are_lent_meanwhile(attempt: Attempt, make_run: MakeRun) -> None:
    make_run(spec=elastic_spec(lanes={"num_rollout": 2, "num_trainer": 2}))
    assert dispatch_waiting() == []
    assert lend_idle_lanes() == 3


def test_two_runs_share_idle_lanes_by_what_they_gain(make_run: MakeRun, project: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=9)
    slow, quick = at_work(make_run, project), at_work(make_run, project)
    measure(slow, generate=1.0, train=0.01)
    measure(quick, generate=1.0, train=0.9)
    assert lend_idle_lanes() == 3
    assert len(lent(slow)) > len(lent(quick))
    assert Lane.objects.filter(held_since=None).count() == 0


def test_a_project_borrows_up_to_its_limit(attempt: Attempt, project: Project) -> None:
    set_share(project, limit=4)
    assert lend_idle_lanes() == 1
    assert held_lanes(DEFAULT_POOL, LaneKind.CPU)[project.pk] == 3, "what is lent counts for nobody's turn"


def test_whose_guarantee_is_unused_lends(attempt: Attempt, make_project: MakeProject) -> None:
    owner = make_project("Owner")
    set_share(owner, guaranteed=2)
    assert lend_idle_lanes() == 3
    lenders = LaneLoan.objects.values_list("lender__name", flat=True)
    assert sorted(name or "" for name in lenders) == ["", "Owner", "Owner"], "one lane is guaranteed to nobody"
    uses = LaneUse.objects.filter(run_id=attempt.run_id, until=None)
    assert uses.filter(borrowed_from=owner).count() == 2


def test_a_deterministic_run_borrows_devices_alone_that_it_has(make_run: MakeRun, project: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    attempt = at_work(make_run, project, elastic_spec(pipeline={"deterministic": True}))
    measure(attempt)
    assert lend_idle_lanes() == 3, "all are CPU lanes"


def test_after_lanes_could_not_join_a_run_is_left_alone_for_a_while(attempt: Attempt) -> None:
    assert lend_idle_lanes() == 3
    row = RunResize.objects.get()
    report(row, ResizeState.FAILED, dict.fromkeys(row.added, LaneStep.GIVEN_UP))
    assert lent(attempt) == []
    assert lend_idle_lanes() == 0
    RunResize.objects.update(ended_at=timezone.now() - RETRY_AFTER)
    assert lend_idle_lanes() == 3


def test_a_loan_ends_with_its_use_and_never_begins_twice(attempt: Attempt) -> None:
    lend_idle_lanes()
    join(attempt)
    assert LaneLoan.objects.filter(joined_at=None).count() == 0
    release(run_id=attempt.run_id, attempt=attempt.number)
    ended = LaneLoan.objects.all()
    assert all(loan.until is not None and loan.end_reason == "the borrower let it go" for loan in ended)
    uses = LaneUse.objects.filter(run_id=attempt.run_id).in_bulk(field_name="id")
    assert all(use.until is not None for use in uses.values())


def test_a_user_keeps_a_lane_of_the_runs_own_and_borrowed_ones_keep_their_role(attempt: Attempt, alice: User) -> None:
    lend_idle_lanes()
    join(attempt)
    with pytest.raises(ValidationError, match="the run must keep at least 1 rollout lane"):
        request_resize(user=alice, run=attempt.run, wanted=WantedResize(release=["rollout-0"]))
    with pytest.raises(ValidationError, match="since it is borrowed and may be asked back"):
        change = [RoleChange(lane="rollout-1", role=LaneRole.REWARD)]
        request_resize(user=alice, run=attempt.run, wanted=WantedResize(change=change))
    row = request_resize(user=alice, run=attempt.run, wanted=WantedResize(release=["rollout-1"]))
    report(row, ResizeState.DONE, {"rollout-1": LaneStep.RELEASED})
    assert lent(attempt) == ["rollout-2", "rollout-3"]
    size = Run.objects.get(pk=attempt.run_id).resized_lanes
    assert size == {"num_rollout": 1, "num_trainer": 1, "num_reward": 1}, "borrowed lanes are not asked for again"
    assert row.cause == ResizeCause.USER
