"""Budget guard: it is told before it is spent, and once it is, runs wait and scripts are told."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import LaneUse
from fleet.shares.spending import check_budgets
from hooks.hook_events import HookEvent
from hooks.models import Delivery
from runs.models import Run
from runs.queue.dispatch import dispatch_waiting
from tests.client.recipes.pages import read_page
from tests.client.recipes.reader import Reader
from tests.web.hooks.conftest import MakeWebhook

pytestmark = pytest.mark.django_db


def use_gpu_hours(project: Project, hours: float) -> None:
    """Hold a lane of 100 GPUs for so long, until now."""
    now = timezone.now()
    held = {"gpus": [f"GPU-{number}" for number in range(100)], "since": now - timedelta(hours=hours / 100)}
    LaneUse.objects.create(project_id=project.pk, until=now, price_per_hour=0, **held)


def test_a_spent_budget_holds_runs_and_stops_scripts(
    reader_as: Callable[..., Reader],
    make_webhook: MakeWebhook,
    make_run: Callable[..., Run],
    admin: User,
    alice: User,
    project: Project,
) -> None:
    page, reader = read_page("budget_guard"), reader_as(admin, scopes=frozenset({"read", "pool"}))
    setting, guard = page.pasted
    reader.fill_in(page, {"PROJECT": str(project.pk)})
    assert reader.paste(setting).startswith("Shapes: 0.0000 of 400.0000")
    make_webhook(events=[HookEvent.BUDGET_NEAR, HookEvent.BUDGET_SPENT])
    script = reader_as(alice, scopes=frozenset({"read"}))
    script.fill_in(page, {"PROJECT": str(project.pk)})

    use_gpu_hours(project, 350)
    assert check_budgets() == 1
    script.paste(guard)
    use_gpu_hours(project, 60)
    assert check_budgets() == 1
    assert script.paste(guard, code=1) == "the budget is spent\n"
    told = Delivery.objects.order_by("created_at").values_list("event", flat=True)
    assert list(told) == [HookEvent.BUDGET_NEAR, HookEvent.BUDGET_SPENT]

    make_run(project=project, name="held")
    ensure_local_lanes(num_cpu_lanes=3)
    assert dispatch_waiting() == []
