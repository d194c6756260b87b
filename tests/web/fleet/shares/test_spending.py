"""What projects may spend: counted from who used which lanes, said once, and held to."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Project, User
from audit.models import AuditEntry
from fleet.models import BudgetPeriod, BudgetUnit, LaneUse, ProjectBudget, WhenSpent
from fleet.shares.spending import (
    check_budgets,
    in_words,
    projects_held_back,
    projects_to_stop,
    remove_budget,
    set_budget,
    spending,
    spendings,
)

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 10, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def use(
    project: Project, since: datetime, until: datetime | None, *, num_gpus: int = 1, price: str | None = "2.5"
) -> LaneUse:
    return LaneUse.objects.create(
        label="gpu0/gpu-0",
        gpus=[f"GPU-{number}" for number in range(num_gpus)],
        project=project,
        role="rollout",
        name_in_run="rollout-0",
        price_per_hour=None if price is None else Decimal(price),
        since=since,
        until=until,
    )


def budget_of(
    admin: User,
    project: Project,
    amount: str = "10",
    unit: BudgetUnit = BudgetUnit.COST,
    period: BudgetPeriod = BudgetPeriod.MONTH,
    when_spent: WhenSpent = WhenSpent.HOLD,
) -> ProjectBudget:
    return set_budget(
        user=admin, project=project, amount=Decimal(amount), unit=unit, period=period, when_spent=when_spent
    )


def test_a_month_counts_its_own_hours_at_the_price_of_each_use(admin: User, project: Project) -> None:
    use(project, datetime(2026, 10, 31, 22, tzinfo=UTC), datetime(2026, 11, 1, 3, tzinfo=UTC))
    use(project, NOW - 2 * HOUR, None, price="1.25")
    use(project, NOW - 9 * HOUR, NOW - HOUR, price=None)
    use(project, datetime(2026, 10, 2, tzinfo=UTC), datetime(2026, 10, 9, tzinfo=UTC))
    found = spending(budget_of(admin, project), NOW)
    assert found.spent == pytest.approx(Decimal("10"))  # 3 h × 2.50 and 2 h × 1.25
    assert (found.begins_at, found.ends_at) == (
        datetime(2026, 11, 1, tzinfo=UTC),
        datetime(2026, 12, 1, tzinfo=UTC),
    )


def test_gpu_hours_count_every_gpu_of_a_lane_and_no_cpu_slot(admin: User, project: Project) -> None:
    use(project, NOW - 3 * HOUR, NOW - HOUR, num_gpus=4)
    use(project, NOW - 3 * HOUR, NOW - HOUR, num_gpus=0)
    assert spending(budget_of(admin, project, unit=BudgetUnit.GPU_HOURS), NOW).spent == pytest.approx(Decimal(8))


def test_december_is_followed_by_january(admin: User, project: Project) -> None:
    found = spending(budget_of(admin, project), datetime(2026, 12, 31, 23, tzinfo=UTC))
    assert found.ends_at == datetime(2027, 1, 1, tzinfo=UTC)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    uses=st.lists(
        st.tuples(
            st.floats(-1500, 0),
            st.floats(0, 800) | st.none(),
            st.integers(0, 8),
            st.decimals(0, 99, places=4) | st.none(),
        ),
        max_size=12,
    ),
    period=st.sampled_from(BudgetPeriod),
    unit=st.sampled_from(BudgetUnit),
)
def test_the_sum_is_that_of_its_uses_one_by_one(
    admin: User,
    project: Project,
    uses: list[tuple[float, float | None, int, Decimal | None]],
    period: BudgetPeriod,
    unit: BudgetUnit,
) -> None:
    LaneUse.objects.all().delete()
    budget = budget_of(admin, project, period=period, unit=unit)
    budget.since = NOW - timedelta(days=3)
    begin = budget.since if period is BudgetPeriod.WHOLE else datetime(2026, 11, 1, tzinfo=UTC)
    expected = 0.0
    for hours, length, num_gpus, price in uses:
        since = NOW + hours * HOUR
        until = None if length is None else since + length * HOUR
        use(project, since, until, num_gpus=num_gpus, price=None if price is None else str(price))
        counted = max(0.0, (min(until or NOW, NOW) - max(since, begin)) / HOUR)
        expected += counted * (num_gpus if unit is BudgetUnit.GPU_HOURS else float(price or 0))
    assert float(spending(budget, NOW).spent) == pytest.approx(expected, abs=1e-3)


def test_it_is_said_once_when_it_is_near_and_once_when_it_is_spent(admin: User, project: Project) -> None:
    budget_of(admin, project, period=BudgetPeriod.WHOLE)
    ProjectBudget.objects.update(since=timezone.now() - 24 * HOUR)
    held = use(project, timezone.now() - 3.5 * HOUR, None)
    assert [check_budgets(), check_budgets()] == [1, 0]
    assert not projects_held_back()
    LaneUse.objects.filter(pk=held.pk).update(since=timezone.now() - 5 * HOUR)
    assert [check_budgets(), check_budgets()] == [1, 0]
    assert projects_held_back() == {project.pk} and not projects_to_stop()
    said = AuditEntry.objects.filter(action__startswith="project.budget").order_by("pk")
    assert [entry.action for entry in said] == ["project.budget_near", "project.budget_spent"]
    assert [entry.actor for entry in said] == ["budget", "budget"]


@pytest.mark.parametrize(
    ("when_spent", "holds_back", "stops"),
    [(WhenSpent.WARN, False, False), (WhenSpent.HOLD, True, False), (WhenSpent.STOP, True, True)],
)
def test_what_happens_then_is_what_the_budget_says(
    admin: User, project: Project, when_spent: WhenSpent, holds_back: bool, stops: bool
) -> None:
    use(project, timezone.now() - 10 * HOUR, None)
    budget_of(admin, project, "1", BudgetUnit.GPU_HOURS, when_spent=when_spent)
    assert (project.pk in projects_held_back(), project.pk in projects_to_stop()) == (holds_back, stops)


def test_a_new_month_begins_anew_without_anybodys_doing(admin: User, project: Project) -> None:
    budget = budget_of(admin, project, "0")
    assert projects_held_back() == {project.pk}
    assert budget.pk not in projects_held_back(timezone.now() + timedelta(days=32))


def test_a_raised_budget_lets_runs_begin_at_once(admin: User, project: Project) -> None:
    use(project, timezone.now() - 10 * HOUR, timezone.now())
    budget_of(admin, project, "20", period=BudgetPeriod.WHOLE)
    ProjectBudget.objects.update(since=timezone.now() - 24 * HOUR)
    check_budgets()
    assert projects_held_back() == {project.pk}
    budget_of(admin, project, "30", period=BudgetPeriod.WHOLE)
    assert not projects_held_back()
    assert spendings(admin)[0].spent == pytest.approx(Decimal(25), abs=Decimal("0.01")), "what was spent still counts"
    remove_budget(user=admin, project=project)
    assert not spendings(admin)


def test_members_see_their_budgets_and_only_pool_admins_set_them(
    admin: User, project: Project, alice: User, charlie: User
) -> None:
    budget_of(admin, project)
    assert [found.budget.project for found in spendings(alice)] == [project]
    assert spendings(charlie) == []
    for act in (lambda: budget_of(alice, project), lambda: remove_budget(user=alice, project=project)):
        with pytest.raises(PermissionDenied):
            act()


@pytest.mark.parametrize("amount", ["-1", "1000000001"])
def test_an_amount_out_of_bounds_is_refused_by_name(admin: User, project: Project, amount: str) -> None:
    with pytest.raises(ValidationError, match="`amount` must lie between 0 and"):
        budget_of(admin, project, amount)


def test_the_sentence_names_amount_unit_and_the_next_period(admin: User, project: Project) -> None:
    month = spending(budget_of(admin, project, "1200"), NOW)
    assert in_words(month) == ("the project's budget of 1,200 in GPU costs is spent, which begins anew on 01 Dec")
    whole = spending(budget_of(admin, project, "7.5", BudgetUnit.GPU_HOURS, BudgetPeriod.WHOLE), NOW)
    assert in_words(whole) == "the project's budget of 7.5 GPU-hours is spent"
