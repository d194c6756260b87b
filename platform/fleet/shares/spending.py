"""What projects have spent of what they may: sums over `LaneUse` inside the budget's period.

    every few seconds ─► `check_budgets` ─► warned of, found spent: each once a period, in the audit log
    dispatch          ─► `projects_held_back` ─► their runs wait
    `runs.pool.budget_stops` ─► `projects_to_stop` ─► their runs save and wait as well

Invariant: the sum itself is never stored, so that it can neither drift nor be reset; a lane that is held counts until
now. Prices are those at which the lanes were allocated.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.access import Actor, is_pool_admin, require_pool_admin, visible_projects
from accounts.models import Project
from audit.record import record
from fleet.models import BudgetPeriod, BudgetUnit, LaneUse, ProjectBudget, WhenSpent
from fleet.shares.lane_hours import GPUS, held_hours
from fleet.signals import announce_lanes
from hooks.hook_events import HookEvent
from hooks.outbox import announce

BUDGETS = "budget"
"""Who warns and stops, in histories."""
MAX_AMOUNT = Decimal(10) ** 9
"""Far beyond any pool: 4,096 GPUs for a whole year are 36 million GPU-hours."""


@dataclass(frozen=True, slots=True)
class Spending:
    """A budget with what is spent of it."""

    budget: ProjectBudget
    spent: Decimal
    begins_at: datetime
    """From when on use counts in the present period."""
    ends_at: datetime | None
    """When the period ends; `None` for never."""

    @property
    def share(self) -> float:
        """Of the amount; infinite where nothing may be spent and something is."""
        if not self.budget.amount:
            return float("inf") if self.spent else 1.0
        return float(self.spent / self.budget.amount)

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.budget.amount

    @property
    def is_near(self) -> bool:
        """Whether so much is spent that it is warned of."""
        return self.is_spent or self.share >= self.budget.warn_at


def spending(budget: ProjectBudget, now: datetime | None = None) -> Spending:
    now = now or timezone.now()
    begin, end = _period(budget, now)
    return Spending(budget, _spent(budget, begin, now), begin, end)


def spendings(user: Actor) -> list[Spending]:
    """The budgets of the user's projects, of all for pool admins, by the project's name."""
    budgets = ProjectBudget.objects.select_related("project").order_by("project__name", "pk")
    if not is_pool_admin(user):
        budgets = budgets.filter(project__in=visible_projects(user))
    return [spending(budget) for budget in budgets]


@transaction.atomic
def set_budget(
    *,
    user: Actor,
    project: Project,
    amount: Decimal,
    unit: BudgetUnit,
    period: BudgetPeriod,
    warn_at: float = 0.8,
    when_spent: WhenSpent = WhenSpent.HOLD,
) -> ProjectBudget:
    """Set what a project may spend. Use counts from the month's begin on, or from now on for a budget once and for all;
    a changed one goes on counting from where it began. Raises `PermissionDenied`, `ValidationError` by field."""
    admin = require_pool_admin(user)
    if not 0 <= amount <= MAX_AMOUNT:
        raise ValidationError({"amount": f"`amount` must lie between 0 and {MAX_AMOUNT:,}, got {amount}"})
    if not 0 <= warn_at <= 1:
        raise ValidationError({"warn_at": f"`warn_at` must be a share between 0 and 1, got {warn_at}"})
    values: dict[str, Any] = {
        "amount": amount,
        "unit": unit.value,
        "period": period.value,
        "warn_at": warn_at,
        "when_spent": when_spent.value,
    }
    # What was said of the old amount does not hold of the new one.
    unsaid = {"warned_at": None, "spent_at": None}
    budget, _ = ProjectBudget.objects.update_or_create(
        project=project, defaults={**values, **unsaid}, create_defaults={**values, **unsaid, "since": timezone.now()}
    )
    record("project.set_budget", project, user=admin, project_id=project.pk, **values)
    _check(budget, timezone.now())
    announce_lanes()
    return budget


@transaction.atomic
def remove_budget(*, user: Actor, project: Project) -> None:
    """Let a project spend anything. Raises `PermissionDenied`."""
    admin = require_pool_admin(user)
    if ProjectBudget.objects.filter(project=project).delete()[0]:
        record("project.remove_budget", project, user=admin, project_id=project.pk)
        announce_lanes()


def check_budgets() -> int:
    """Find the budgets that have come near their end or reached it; returns how many that was newly said of."""
    now = timezone.now()
    return sum(_check(budget, now) for budget in ProjectBudget.objects.select_related("project"))


def projects_held_back(now: datetime | None = None) -> set[UUID]:
    """Projects of which no run may begin, because they have spent what they may."""
    return _found_spent(now or timezone.now(), (WhenSpent.HOLD, WhenSpent.STOP))


def projects_to_stop(now: datetime | None = None) -> set[UUID]:
    """Projects of which no run may hold lanes any more."""
    return _found_spent(now or timezone.now(), (WhenSpent.STOP,))


def in_words(spent: Spending) -> str:
    """The budget and its period, as a clause."""
    unit = "GPU-hours" if spent.budget.unit == BudgetUnit.GPU_HOURS else "in GPU costs"
    until = f", which begins anew on {spent.ends_at:%d %b}" if spent.ends_at else ""
    return f"the project's budget of {spent.budget.amount.normalize():,f} {unit} is spent{until}"


def budgets_in_words(projects: Collection[UUID]) -> dict[UUID, str]:
    """By project: that its budget is spent, as a clause."""
    if not projects:
        return {}
    budgets = ProjectBudget.objects.filter(pk__in=projects).select_related("project")
    return {budget.pk: in_words(spending(budget)) for budget in budgets}


def _found_spent(now: datetime, when: Iterable[WhenSpent]) -> set[UUID]:
    budgets = ProjectBudget.objects.filter(when_spent__in=list(when), spent_at__isnull=False)
    return {budget.pk for budget in budgets if budget.spent_at and budget.spent_at >= _period(budget, now)[0]}


@transaction.atomic
def _check(budget: ProjectBudget, now: datetime) -> bool:
    found = spending(budget, now)
    said = False
    for field, action, holds, event in (
        ("warned_at", "project.budget_near", found.is_near, HookEvent.BUDGET_NEAR),
        ("spent_at", "project.budget_spent", found.is_spent, HookEvent.BUDGET_SPENT),
    ):
        at: datetime | None = getattr(budget, field)
        if not holds or (at is not None and at >= found.begins_at):
            continue
        # Conditional, since two rounds at once must not both say it.
        unsaid = ProjectBudget.objects.filter(Q(**{field: None}) | Q(**{f"{field}__lt": found.begins_at}))
        if unsaid.filter(pk=budget.pk).update(**{field: now}):
            record(
                action,
                budget.project,
                user=None,
                actor=BUDGETS,
                project_id=budget.pk,
                spent=found.spent,
                amount=budget.amount,
                unit=budget.unit,
            )
            _tell(event, found)
            said = True
    return said


def _tell(event: HookEvent, found: Spending) -> None:
    """Tell webhooks."""
    project = found.budget.project
    # Of a budget of nothing any share is infinite, which JSON has no number for.
    reached = f"{found.share:.0%} of " if found.budget.amount else ""
    announce(
        event,
        text=f"{project.name}: {in_words(found)}"
        if event is HookEvent.BUDGET_SPENT
        else f"{project.name}: {reached}the project's budget is spent",
        path="/usage",
        project=project,
        spent=float(found.spent),
        amount=float(found.budget.amount),
        unit=found.budget.unit,
        ends_at=found.ends_at and found.ends_at.isoformat(),
    )


def _period(budget: ProjectBudget, now: datetime) -> tuple[datetime, datetime | None]:
    """From when on use counts, and when the period ends."""
    if budget.period == BudgetPeriod.WHOLE:
        return budget.since, None
    begin = datetime(now.year, now.month, 1, tzinfo=UTC)
    following = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
    return begin, following


def _spent(budget: ProjectBudget, begin: datetime, now: datetime) -> Decimal:
    rate = F("price_per_hour") if budget.unit == BudgetUnit.COST else GPUS
    uses = LaneUse.objects.filter(project=budget.project_id, since__lt=now).filter(Q(until=None) | Q(until__gt=begin))
    total = uses.aggregate(total=held_hours(now=now, begin=begin, rate=rate))["total"]
    return Decimal(total or 0)
