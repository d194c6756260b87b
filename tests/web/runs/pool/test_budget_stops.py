"""A project that has spent what it may gives its lanes back, and its runs lose nothing."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.utils import timezone

from accounts.models import Project, User
from fleet.models import BudgetPeriod, BudgetUnit, WhenSpent
from fleet.shares.spending import set_budget
from runs.models import Attempt, AttemptOutcome, PendingCommand, Run
from runs.pool.budget_stops import stop_spent_projects
from worker.contracts.commands import CommandKind
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt(live_run: Callable[..., Attempt], project: Project, alice: User) -> Attempt:
    return live_run(project=project, created_by=alice)


@pytest.fixture
def spend(make_user: Callable[..., User], project: Project) -> Callable[[WhenSpent], None]:
    admin = make_user("pool-admin", is_pool_admin=True)

    def spend(when_spent: WhenSpent) -> None:
        set_budget(
            user=admin,
            project=project,
            amount=Decimal(0),
            unit=BudgetUnit.GPU_HOURS,
            period=BudgetPeriod.MONTH,
            when_spent=when_spent,
        )

    return spend


@pytest.mark.parametrize("when_spent", [WhenSpent.WARN, WhenSpent.HOLD])
def test_a_running_run_goes_on_unless_the_budget_says_stop(
    attempt: Attempt, spend: Callable[[WhenSpent], None], when_spent: WhenSpent
) -> None:
    spend(when_spent)
    assert stop_spent_projects() == 0
    assert not PendingCommand.objects.exists()


def test_it_saves_first_and_then_waits_for_a_new_budget(attempt: Attempt, spend: Callable[[WhenSpent], None]) -> None:
    spend(WhenSpent.STOP)
    assert [stop_spent_projects(), stop_spent_projects()] == [0, 0]
    (asked,) = PendingCommand.objects.all()
    assert asked.kind == CommandKind.CHECKPOINT_NOW
    PendingCommand.objects.update(done_at=timezone.now(), accepted=True)
    Run.objects.update(resume_from="file:///checkpoints/3", resume_batch=3)
    assert [stop_spent_projects(), stop_spent_projects()] == [1, 0]
    attempt.refresh_from_db()
    assert attempt.outcome == AttemptOutcome.MOVED
    assert attempt.detail.startswith("the project's budget is spent: the run goes on from batch 3")
    assert attempt.run.transitions.last().actor == "budget"  # type: ignore[union-attr]
    assert Run.objects.get().state == RunState.STARTING


def test_runs_of_other_projects_are_left_alone(
    attempt: Attempt,
    spend: Callable[[WhenSpent], None],
    make_project: Callable[..., Project],
    live_run: Callable[..., Attempt],
) -> None:
    other = live_run(project=make_project("Others"))
    spend(WhenSpent.STOP)
    stop_spent_projects()
    assert set(PendingCommand.objects.values_list("run", flat=True)) == {attempt.run_id}
    assert other.run_id != attempt.run_id
