"""The queue and the shares over REST."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import ProjectShare
from runs.models import Run

ClientOf = Callable[[User], APIClient]


@pytest.fixture
def waiting(make_run: Callable[..., Run], project: Project, make_project: Callable[..., Project]) -> list[Run]:
    ensure_local_lanes(num_cpu_lanes=1)
    return [make_run(project=project, name="mine"), make_run(project=make_project("Video"), name="secret recipe")]


def rows(client: APIClient, path: str) -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def test_members_see_their_place_and_not_whose_the_others_are(api: APIClient, waiting: list[Run]) -> None:
    mine, other = rows(api, "queue")
    assert (mine["position"], mine["run_name"], mine["lanes"]) == (0, "mine", {"cpu": 3})
    assert mine["why"].startswith("needs 3 CPU lanes, the pool has 1 CPU lane")
    assert (other["position"], other["run_id"], other["run_name"], other["project_name"], other["why"]) == (
        1,
        None,
        "a run of another project",
        "",
        "",
    )


def test_an_admin_sees_what_a_share_would_change_and_then_sets_it(pool_admin: APIClient, waiting: list[Run]) -> None:
    video = str(waiting[1].project_id)
    share = {"guaranteed_lanes": 3, "max_lanes": 6, "weight": 2.0}
    tried = pool_admin.post("/api/v1/queue:preview", {"shares": [{"project": video, **share}]}, format="json").json()
    assert [row["run_name"] for row in tried["results"]] == ["secret recipe", "mine"]
    assert not ProjectShare.objects.exists()
    saved = pool_admin.put(f"/api/v1/shares/{video}", share, format="json").json()
    assert {field: saved[field] for field in share} == share
    assert saved["num_waiting"] == 1
    assert [row["run_name"] for row in rows(pool_admin, "queue")] == ["secret recipe", "mine"]


def test_members_see_their_shares_and_may_set_none(api: APIClient, waiting: list[Run], project: Project) -> None:
    (row,) = rows(api, "shares")
    assert (row["project_id"], row["weight"], row["held_lanes"]) == (str(project.pk), 1.0, 0)
    assert api.put(f"/api/v1/shares/{project.pk}", {}, format="json").status_code == 403
    assert api.put("/api/v1/pool-policy", {"half_life_hours": 1}, format="json").status_code == 403
    assert api.post("/api/v1/queue:preview", {"shares": []}, format="json").status_code == 403


def test_shares_that_make_no_sense_are_refused_by_field(pool_admin: APIClient, project: Project) -> None:
    refused = pool_admin.put(f"/api/v1/shares/{project.pk}", {"guaranteed_lanes": 4, "max_lanes": 3}, format="json")
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["max_lanes"])
    assert pool_admin.put("/api/v1/shares/00000000-0000-4000-8000-000000000000", {}, format="json").status_code == 404
    wrong = {"shares": [{"project": str(project.pk), "guaranteed_lanes": 4, "max_lanes": 3}]}
    assert pool_admin.post("/api/v1/queue:preview", wrong, format="json").status_code == 400


def test_the_policy_is_read_by_all_and_set_by_admins(api: APIClient, pool_admin: APIClient, db: None) -> None:
    idle = {"reclaim_seconds": 30.0, "idle_warning_minutes": 30, "idle_release_minutes": None}
    assert api.get("/api/v1/pool-policy").json() == {"pool": "default", "half_life_hours": 24.0, **idle}
    changed = pool_admin.put("/api/v1/pool-policy", {"half_life_hours": 72}, format="json").json()
    assert changed == {"pool": "default", "half_life_hours": 72.0, **idle}
    changed = pool_admin.put("/api/v1/pool-policy", {"idle_release_minutes": 90}, format="json").json()
    assert changed == {"pool": "default", "half_life_hours": 72.0, **idle, "idle_release_minutes": 90}
    assert api.get("/api/v1/pool-policy").json() == changed


@pytest.mark.parametrize(
    "wrong",
    [
        {"half_life_hours": 0},
        {"half_life_hours": 9000},
        {"reclaim_seconds": -1},
        {"idle_warning_minutes": 0},
        {"idle_release_minutes": 30},
        {"idle_release_minutes": 10**9},
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_by_field(
    pool_admin: APIClient, wrong: dict[str, int], db: None
) -> None:
    refused = pool_admin.put("/api/v1/pool-policy", wrong, format="json")
    assert (refused.status_code, list(refused.json()["errors"])) == (400, list(wrong))
    assert pool_admin.get("/api/v1/pool-policy").json()["half_life_hours"] == 24.0
