"""The home page's answer: whose runs it counts, which it shows first, and what it warns of."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.models import Gpu, Node, NodeAgent, ProjectBudget
from runs.models import Run

MakeRun = Callable[..., Run]
ClientOf = Callable[[User], APIClient]

pytestmark = pytest.mark.django_db


def groups(client: APIClient, address: str = "/api/v1/home") -> dict[str, dict[str, Any]]:
    return {group["group"]: group for group in client.get(address).json()["groups"]}


def test_runs_are_counted_by_what_becomes_of_them_and_whose_they_are(
    client_of: ClientOf, make_run: MakeRun, project: Project, alice: User, bob: User
) -> None:
    make_run(project=project, state="running", created_by=alice)
    make_run(project=project, state="paused", created_by=bob)
    make_run(project=project, state="queued", created_by=bob)
    found = groups(client_of(alice))
    assert {name: (group["number"], group["number_mine"]) for name, group in found.items()} == {
        "running": (2, 1),
        "waiting": (1, 0),
        "failed": (0, 0),
        "finished": (0, 0),
    }


def test_a_failed_run_says_why_and_one_of_last_month_is_left_out(
    client_of: ClientOf, make_run: MakeRun, project: Project, alice: User
) -> None:
    now = timezone.now()
    failure = {"reason": "the loss was NaN", "phase": "", "details": "", "log_tail": "", "suggestions": []}
    make_run(project=project, state="failed", ended_at=now, failure=failure)
    make_run(project=project, state="failed", ended_at=now - timedelta(days=30))
    (row,) = groups(client_of(alice))["failed"]["rows"]
    assert row["note"] == "the loss was NaN"


def test_my_own_runs_come_before_newer_ones_of_others(
    client_of: ClientOf, make_run: MakeRun, project: Project, alice: User, bob: User
) -> None:
    make_run(project=project, state="running", created_by=alice, name="mine")
    for number in range(10):
        make_run(project=project, state="running", created_by=bob, name=f"theirs {number}")
    group = groups(client_of(alice))["running"]
    names = [row["name"] for row in group["rows"]]
    assert names[0] == "mine"
    assert (len(names), group["number"]) == (8, 11)


def test_an_outsider_sees_no_run_and_one_project_can_be_asked_for(
    client_of: ClientOf, make_run: MakeRun, project: Project, alice: User, charlie: User
) -> None:
    make_run(project=project, state="running")
    assert groups(client_of(charlie))["running"]["number"] == 0
    assert groups(client_of(alice), f"/api/v1/home?project={project.pk}")["running"]["number"] == 1
    nowhere = "9b2f1c9e-0000-4000-8000-000000000000"
    assert groups(client_of(alice), f"/api/v1/home?project={nowhere}")["running"]["number"] == 0


def test_a_silent_node_agent_and_a_lost_node_are_alerts(client_of: ClientOf, alice: User) -> None:
    assert client_of(alice).get("/api/v1/home").json()["alerts"] == []
    long_ago = timezone.now() - timedelta(minutes=10)
    NodeAgent.objects.create(reported_at=long_ago, code_expires_at=long_ago)
    Node.objects.create(name="n1", lost_since=long_ago)
    agent, node = client_of(alice).get("/api/v1/home").json()["alerts"]
    assert "silent for 10 min" in agent["text"]
    assert node["text"].startswith("Node n1 is lost")


def test_runs_of_the_team_stand_beside_mine_however_many_these_are(
    client_of: ClientOf, make_run: MakeRun, project: Project, alice: User, bob: User
) -> None:
    for number in range(10):
        make_run(project=project, state="running", created_by=alice, name=f"mine {number}")
        make_run(project=project, state="running", created_by=bob, name=f"theirs {number}")
    rows = groups(client_of(alice))["running"]["rows"]
    assert [row["is_mine"] for row in rows] == [True] * 8 + [False] * 4


def test_a_faulty_gpu_and_a_spent_budget_are_alerts(
    client_of: ClientOf, project: Project, alice: User, charlie: User
) -> None:
    node = Node.objects.create(name="n1")
    gpu = Gpu.objects.create(
        node=node, index=3, uuid="GPU-1", resource="n1-gpu-3", state="faulty", reason="its test failed"
    )
    ProjectBudget.objects.create(project=project, amount=0, unit="gpu_hours", period="month", since=timezone.now())
    faulty, spent = client_of(alice).get("/api/v1/home").json()["alerts"]
    assert faulty == {"text": "GPU 3 of n1 is faulty: its test failed", "page": f"/pool/gpus/{gpu.pk}"}
    assert spent["text"].startswith("Shapes: the project's budget of 0 GPU-hours is spent")
    assert spent["page"] == "/usage"
    assert len(client_of(charlie).get("/api/v1/home").json()["alerts"]) == 1, "a budget is its project's own matter"
