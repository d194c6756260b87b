"""What happens to runs, budgets, nodes and GPUs is told, each as its own event."""

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project, User
from fleet.models import BudgetPeriod, BudgetUnit, Gpu, Node, ServiceState, WhenSpent
from fleet.shares.spending import set_budget
from fleet.states.state_changes import change_state, change_states, mark_found, mark_lost
from hooks.hook_events import POOL_EVENTS, HookEvent
from hooks.models import Delivery
from runs.models import Run
from runs.reports.driver_reports import apply_event
from runs.run_news import event_of
from tests.web.conftest import MakeRun
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.hooks.conftest import MakeWebhook
from worker.contracts.events import RewardHackingEvent
from worker.contracts.states import LEGAL_MOVES, RunState

pytestmark = pytest.mark.django_db


def told() -> list[str]:
    """The events in the outbox, oldest first."""
    return list(Delivery.objects.order_by("created_at").values_list("event", flat=True))


def test_each_legal_move_is_told_of_as_what_it_means() -> None:
    named = {(old, new): event_of(old, new) for old, moves in LEGAL_MOVES.items() for new in moves}
    untold = {move for move, event in named.items() if event is None}
    assert untold == {
        (RunState.QUEUED, RunState.STARTING),
        (RunState.STARTING, RunState.QUEUED),
        (RunState.PAUSED, RunState.QUEUED),
        *((old, RunState.STOPPING) for old in (RunState.STARTING, RunState.RUNNING, RunState.PAUSED)),
    }
    assert named[RunState.RUNNING, RunState.STARTING] == HookEvent.RUN_RESTARTED
    assert named[RunState.PAUSED, RunState.RUNNING] == HookEvent.RUN_RESUMED
    assert named[RunState.STOPPED, RunState.QUEUED] == HookEvent.RUN_RESUMED


def test_reward_hacking_is_told_of_when_it_begins_and_when_it_ends(
    make_webhook: MakeWebhook, make_run: MakeRun, project: Project
) -> None:
    make_webhook()
    run: Run = make_run(project, state="running", attempt=1)
    change: dict[str, Any] = {"change": 0.4, "standard_error": 0.1}
    for seq, suspected in ((1, True), (2, False)):
        event = RewardHackingEvent.model_validate(
            {
                **{"type": "reward_hacking", "seq": seq, "at": 1.0, "suspected": suspected, "batch": 7},
                **{"num_batches": 5, "monitored": "reward/clip", "optimised_change": change},
                "monitored_change": change | {"change": -0.3},
            }
        )
        apply_event(run.pk, 1, event)
    assert told() == ["reward_hacking.suspected", "reward_hacking.over"]
    data = Delivery.objects.order_by("created_at")[0].payload["data"]
    assert (data["monitored"], data["monitored_change"]["change"]) == ("reward/clip", -0.3)


def test_a_spent_budget_is_told_to_its_project_and_to_the_pool(
    make_webhook: MakeWebhook, project: Project, admin: User
) -> None:
    make_webhook()
    make_webhook(user=admin, project=None, events=POOL_EVENTS)
    set_budget(
        user=admin,
        project=project,
        amount=Decimal(0),
        unit=BudgetUnit.GPU_HOURS,
        period=BudgetPeriod.MONTH,
        when_spent=WhenSpent.WARN,
    )
    assert sorted(told()) == ["budget.near"] * 2 + ["budget.spent"] * 2


def test_lost_and_faulty_nodes_and_gpus_are_told_to_the_pool_alone(make_webhook: MakeWebhook, admin: User) -> None:
    make_webhook()
    make_webhook(user=admin, project=None, events=POOL_EVENTS)
    post_node(alive("gpu0"), card("GPU-a", 0))
    gpu, node = Gpu.objects.get(), Node.objects.get()
    mark_lost([node, gpu], by="agent", reason="silent", at=timezone.now())
    mark_found([gpu], by="agent", at=timezone.now())
    change_state(gpu, ServiceState.FAULTY, by="health", reason="Xid 79")
    change_state(gpu, ServiceState.CORDONED, by="admin")
    change_states(Gpu.objects.all(), ServiceState.FAULTY, by="health", reason="Xid 79")
    assert told() == ["node.lost", "gpu.lost", "gpu.found", "gpu.faulty", "gpu.faulty"]
    last = Delivery.objects.order_by("-created_at")[0]
    assert last.webhook.project is None
    assert last.payload["data"]["text"] == "GPU GPU-a is faulty: Xid 79"
