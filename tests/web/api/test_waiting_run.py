"""A waiting run over REST: its place, its priority, what would start now; and who holds lanes until when."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from runs.models import Run
from runs.queue.dispatch import dispatch_waiting
from worker.contracts.run_spec import RunSpec

ClientOf = Callable[[User], APIClient]


@pytest.fixture
def runs(make_run: Callable[..., Run], make_spec: Callable[..., RunSpec], project: Project) -> list[Run]:
    """One that holds 3 of 6 lanes, and two that wait for 4."""
    ensure_local_lanes(num_cpu_lanes=6)
    began = timezone.now() - timedelta(hours=1)
    specs = [make_spec(), make_spec(lanes={"num_rollout": 2}), make_spec(lanes={"num_rollout": 2})]
    made = [
        make_run(project=project, name=f"run {number}", spec=spec, created_at=began + timedelta(seconds=number))
        for number, spec in enumerate(specs)
    ]
    assert dispatch_waiting() == [made[0].pk]
    return made


def queue(client: APIClient) -> list[dict[str, Any]]:
    return list(client.get("/api/v1/queue?pool=default").json()["results"])


def test_an_admin_moves_a_run_and_undoes_it_and_members_read_why(
    api: APIClient, pool_admin: APIClient, runs: list[Run]
) -> None:
    place = f"/api/v1/runs/{runs[2].pk}/queue-place"
    assert pool_admin.post(place, {"direction": "front", "reason": "deadline"}, format="json").status_code == 204
    first = queue(api)[0]
    assert first["run_name"] == "run 2"
    assert {name: first["moved"][name] for name in ("words", "by", "reason")} == {
        "words": "moved to the front",
        "by": "pool-admin",
        "reason": "deadline",
    }
    assert pool_admin.delete(place).status_code == 204
    assert [row["run_name"] for row in queue(api)] == ["run 1", "run 2"]


def test_a_move_needs_a_reason_and_a_direction(pool_admin: APIClient, runs: list[Run]) -> None:
    place = f"/api/v1/runs/{runs[2].pk}/queue-place"
    for body, field in (({"direction": "front"}, "reason"), ({"direction": "left", "reason": "x"}, "direction")):
        refused = pool_admin.post(place, body, format="json")
        assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])
    nobody = "/api/v1/runs/00000000-0000-4000-8000-000000000000/queue-place"
    assert pool_admin.post(nobody, {"direction": "front", "reason": "x"}, format="json").status_code == 404


def test_an_alternative_is_listed_taken_and_starts(api: APIClient, runs: list[Run]) -> None:
    address = f"/api/v1/runs/{runs[1].pk}/alternatives"
    (found,) = api.get(address).json()["results"]
    assert (found["change"], found["lanes"]["num_rollout"], found["lanes"]["num_trainer"]) == ("fewer_lanes", 1, 1)
    assert api.post(address, {"num_rollout": 0}, format="json").status_code == 400
    taken = api.post(address, found["lanes"], format="json")
    assert taken.status_code == 200, taken.content
    assert dispatch_waiting() == [runs[1].pk]
    late = api.post(address, {"num_rollout": 2}, format="json")
    assert late.status_code == 409


def test_priority_is_set_while_a_run_waits(api: APIClient, runs: list[Run]) -> None:
    assert api.patch(f"/api/v1/runs/{runs[2].pk}", {"priority": "high"}, format="json").status_code == 200
    assert [(row["run_name"], row["priority"]) for row in queue(api)] == [("run 2", "high"), ("run 1", "normal")]
    assert api.patch(f"/api/v1/runs/{runs[0].pk}", {"priority": "high"}, format="json").status_code == 409
    assert api.patch(f"/api/v1/runs/{runs[2].pk}", {"priority": "now"}, format="json").status_code == 400


def test_holders_and_waiting_runs_say_what_is_expected_of_them(api: APIClient, runs: list[Run]) -> None:
    (holder,) = api.get("/api/v1/queue/running?pool=default").json()["results"]
    assert (holder["run_name"], holder["lanes"], holder["ends"], holder["basis"]) == (
        "run 0",
        {"cpu": 3},
        None,
        "unknown",
    )
    first, second = queue(api)
    assert [blocker["kind"] for blocker in first["blockers"]] == ["lanes_held"]
    assert (first["starts"], second["ahead"]["lanes"]) == (None, {"cpu": 4})


def test_a_half_life_is_tried_within_its_bounds(pool_admin: APIClient, runs: list[Run]) -> None:
    tried = pool_admin.post("/api/v1/queue:preview", {"shares": [], "half_life_hours": 2}, format="json")
    assert [row["run_name"] for row in tried.json()["results"]] == ["run 1", "run 2"]
    assert (
        pool_admin.post("/api/v1/queue:preview", {"shares": [], "half_life_hours": 0}, format="json").status_code == 400
    )
