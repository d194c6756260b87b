"""Resizes over REST."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.services import LaneHolder, WantedLanes, allocate, allocate_more
from runs.models import Attempt, MeasuredCosts, PlanRevision, Run, RunResize
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.names import LaneRole, Placement

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project) -> Run:
    """A running run with one lane of each role, on a pool of five CPU lanes."""
    ensure_local_lanes(num_cpu_lanes=5)
    made = make_run(project=project, state="running", attempt=1)
    Attempt.objects.create(run=made, number=1, bootstrap_used_at=timezone.now())
    holder = LaneHolder(run_id=made.pk, attempt=1, project_id=project.pk, user_id=None)
    allocate(holder=holder, wanted=made.run_spec.granted_lanes)
    return made


def test_a_resize_is_asked_for_and_listed(client_of: Callable[[User], APIClient], run: Run, bob: User) -> None:
    client = client_of(bob)
    size = client.get(f"/api/v1/runs/{run.pk}/size").json()
    assert [(lane["lane"], lane["device"]) for lane in size["lanes"]] == [
        ("rollout-0", "cpu"),
        ("trainer-0", "cpu"),
        ("reward-0", "cpu"),
    ]
    assert {free["role"]: free["number"] for free in size["free"]} == {"rollout": 2, "trainer": 2, "reward": 2}
    assert (size["trainer_change_seconds"], size["resizes"]) == (None, [])
    assert "resize" in client.get(f"/api/v1/runs/{run.pk}").json()["legal_actions"]
    body = {"add": [{"role": "rollout"}, {"role": "trainer", "device": "cpu"}]}
    asked = client.post(f"/api/v1/runs/{run.pk}/resize", body, format="json")
    assert asked.status_code == 202
    (listed,) = client.get(f"/api/v1/runs/{run.pk}/size").json()["resizes"]
    assert (listed["id"], listed["state"], listed["requested_by"]) == (asked.json()["resize_id"], "requested", "bob")
    (command,) = client.get(f"/api/v1/runs/{run.pk}/commands").json()["results"]
    assert (command["id"], command["kind"]) == (listed["id"], "resize")


def test_a_lane_that_joins_while_the_size_is_read_breaks_nothing(api: APIClient, run: Run, project: Project) -> None:
    holder = LaneHolder(run_id=run.pk, attempt=1, project_id=project.pk, user_id=None)
    one_more, held = WantedLanes(role=LaneRole.ROLLOUT, number=1), list[str]()

    def join_after_the_first_read(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        answer = execute(sql, *rest)
        if not held and sql.startswith("SELECT") and 'FROM "fleet_lane"' in sql and '"attempt" =' in sql:
            held.append("")
            held.extend(
                grant.lane for grant in allocate_more(holder=holder, pool=DEFAULT_POOL, wanted=[one_more]) or ()
            )
        return answer

    with connection.execute_wrapper(join_after_the_first_read):
        answer = api.get(f"/api/v1/runs/{run.pk}/size")
    assert held[1:] == ["rollout-1"]
    assert answer.status_code == 200


def test_a_repeat_with_the_same_key_is_answered_alike_and_another_resize_gets_409(api: APIClient, run: Run) -> None:
    def ask(key: str) -> tuple[int, dict[str, str]]:
        body = {"add": [{"role": "reward", "number": 1}]}
        headers = {"Idempotency-Key": key}
        answer = api.post(f"/api/v1/runs/{run.pk}/resize", body, format="json", headers=headers)
        return answer.status_code, answer.json()

    first = ask("a")
    assert ask("a") == first
    assert RunResize.objects.count() == 1
    status, body = ask("b")
    assert (status, body["resize"]) == (409, first[1]["resize_id"])
    assert first[1]["resize_id"] in body["detail"]


def test_refusals_name_the_field(api: APIClient, run: Run) -> None:
    def errors(body: dict[str, object]) -> list[str]:
        answer = api.post(f"/api/v1/runs/{run.pk}/resize", body, format="json")
        assert answer.status_code == 400
        return list(answer.json()["errors"])

    assert errors({"add": [{"role": "rollout", "number": 3}]}) == ["add"]
    assert errors({"release": ["reward-0"]}) == ["release"]
    assert errors({"change": [{"lane": "trainer-0", "role": "painter"}]})[0].startswith("change")
    assert errors({}) == ["add"]


def test_a_run_that_the_planner_placed_colocated_is_offered_no_rollout_lanes(api: APIClient, run: Run) -> None:
    assert api.get(f"/api/v1/runs/{run.pk}/size").json()["roles"] == ["rollout", "trainer", "reward"]
    pipeline = run.run_spec.pipeline.model_copy(update={"placement": Placement.COLOCATED})
    PlanRevision.objects.create(
        run=run,
        attempt=run.attempts.get(),
        number=1,
        since_batch=0,
        reason="the fastest",
        spec=run.run_spec.model_copy(update={"pipeline": pipeline}).model_dump(mode="json"),
        plan={},
    )
    size = api.get(f"/api/v1/runs/{run.pk}/size").json()
    assert size["roles"] == ["trainer", "reward"]
    assert {free["role"] for free in size["free"]} == {"trainer", "reward"}


def test_what_a_trainer_change_costs_is_the_sum_of_what_the_run_has_measured(api: APIClient, run: Run) -> None:
    costs = [
        {"lane": "gang", "kind": kind, "per_call": 0.0, "per_unit": seconds, "observed_units": [1, 1]}
        for kind, seconds in (("start", 20.0), ("checkpoint", 1.5), ("commit", 9.0))
    ]
    MeasuredCosts.objects.create(run=run, devices="cpu", num_batches=3, costs=costs)
    size = api.get(f"/api/v1/runs/{run.pk}/size").json()
    assert (size["trainer_change_seconds"], size["is_trainer_change_measured"]) == (21.5, False)


def test_the_actions_address_does_not_take_a_resize(api: APIClient, run: Run) -> None:
    refused = api.post(f"/api/v1/runs/{run.pk}/actions", {"action": "resize"})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["action"])


def test_outsiders_see_nothing(client_of: Callable[[User], APIClient], run: Run, charlie: User, viewer: User) -> None:
    assert client_of(charlie).get(f"/api/v1/runs/{run.pk}/size").status_code == 404
    assert client_of(viewer).get(f"/api/v1/runs/{run.pk}/size").status_code == 200
    assert client_of(viewer).post(f"/api/v1/runs/{run.pk}/resize", {}, format="json").status_code == 403
