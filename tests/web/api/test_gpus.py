"""One GPU over REST: who used it and how its health went, named only to those who may see it; tests of several."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from audit.models import AuditEntry
from fleet.models import Gpu, GpuTest, HealthChange, LaneUse
from runs.models import Run
from tests.web.fleet.node_posts import alive, card, post_node

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ClientOf = Callable[[User], APIClient]
SECRET = "secret recipe"


@pytest.fixture
def gpu(db: None) -> Gpu:
    post_node(alive("gpu0"), card("GPU-a", 0), card("GPU-b", 1))
    return Gpu.objects.get(uuid="GPU-a")


@pytest.fixture
def run(make_run: Callable[..., Run], project: Project, alice: User) -> Run:
    return make_run(project=project, name=SECRET, created_by=alice)


def use(hours: float, uuid: str = "GPU-a", **fields: Any) -> LaneUse:
    values = {"attempt": 1, "role": "rollout", "name_in_run": "rollout-0", "until": NOON + (hours + 1) * HOUR}
    return LaneUse.objects.create(label="gpu0/gpu-0", gpus=[uuid], since=NOON + hours * HOUR, **{**values, **fields})


def of_run(run: Run) -> dict[str, Any]:
    return {"run_id": run.pk, "project": run.project, "user": run.created_by}


def uses(client: APIClient, gpu: Gpu, **query: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get(f"/api/v1/gpus/{gpu.pk}/uses", query).json()["results"]
    return rows


def test_uses_come_newest_first_with_run_project_who_and_role(api: APIClient, gpu: Gpu, run: Run) -> None:
    use(0, **of_run(run))
    use(2, **of_run(run), preview_id=uuid4(), attempt=None)
    use(4, test_id=uuid4(), attempt=None)
    use(6, "GPU-b", **of_run(run))
    use(8, **of_run(run), until=None)
    found = uses(api, gpu)
    assert [(row["role"], row["run_name"], row["project"], row["user"]) for row in found] == [
        ("rollout", SECRET, "Shapes", "alice"),
        ("test", "", "", ""),
        ("preview", SECRET, "Shapes", "alice"),
        ("rollout", SECRET, "Shapes", "alice"),
    ]
    assert found[0]["until"] is None
    assert found[0]["run_id"] == str(run.pk)


def test_to_outsiders_a_run_has_no_name_and_to_pool_admins_no_page(
    client_of: ClientOf, charlie: User, pool_admin: APIClient, gpu: Gpu, run: Run
) -> None:
    use(0, **of_run(run))
    HealthChange.objects.create(
        gpu=gpu,
        name=gpu.name,
        health="warning",
        causes=["hot"],
        remedy="none",
        faults=gpu.faults,
        run_id=run.pk,
        at=NOON,
    )
    outsider = client_of(charlie)
    for path in ("uses", "health"):
        answer = outsider.get(f"/api/v1/gpus/{gpu.pk}/{path}")
        (row,) = answer.json()["results"]
        assert (row["run_id"], row["run_name"]) == (None, "a run of another project")
        for hidden in (SECRET, str(run.pk), "Shapes", "alice"):
            assert hidden not in answer.content.decode()
        (seen,) = pool_admin.get(f"/api/v1/gpus/{gpu.pk}/{path}").json()["results"]
        assert (seen["run_id"], seen["run_name"]) == (None, SECRET), "named as in the usage, and not opened"


def test_a_run_that_was_deleted_is_called_so(api: APIClient, gpu: Gpu, run: Run) -> None:
    use(0, **of_run(run))
    Run.objects.filter(pk=run.pk).delete()
    assert [(row["run_id"], row["run_name"]) for row in uses(api, gpu)] == [(None, "a deleted run")]


def test_uses_come_by_the_page(api: APIClient, gpu: Gpu, run: Run) -> None:
    for hours in range(3):
        use(2 * hours, **of_run(run))
    first = api.get(f"/api/v1/gpus/{gpu.pk}/uses", {"limit": 2}).json()
    rest = api.get(first["next"]).json()
    assert (len(first["results"]), len(rest["results"]), rest["next"]) == (2, 1, None)
    assert api.get(f"/api/v1/gpus/{gpu.pk}/uses", {"limit": 0}).status_code == 400


def test_health_tells_causes_remedy_and_counts(api: APIClient, gpu: Gpu, run: Run) -> None:
    post_node(alive("gpu0"), card("GPU-a", 0, remap_failed=True, remapped_rows=9), card("GPU-b", 1))
    found = api.get(f"/api/v1/gpus/{gpu.pk}/health").json()["results"]
    assert [row["health"] for row in found] == ["failed"]
    assert found[0]["causes"] and found[0]["remedy"] != "none"
    assert found[0]["faults"]["remapped_rows"] == 9


def test_minutes_are_columns_since_a_time(api: APIClient, gpu: Gpu) -> None:
    for minute in range(3):
        gpu.minutes.create(
            begin=NOON + timedelta(minutes=minute), num_readings=20, values={"power": [1.0, 2.0, 3.0]}, throttled={}
        )
    body = api.get(f"/api/v1/gpus/{gpu.pk}/minutes").json()
    assert (len(body["at"]), body["values"]["power"]["mean"], body["throttled"]) == (3, [2.0] * 3, {})
    since = (NOON + timedelta(minutes=1)).isoformat()
    assert len(api.get(f"/api/v1/gpus/{gpu.pk}/minutes", {"since": since}).json()["at"]) == 2
    assert list(api.get(f"/api/v1/gpus/{gpu.pk}/minutes", {"since": "soon"}).json()["errors"]) == ["since"]


@pytest.mark.parametrize("path", ["uses", "health", "minutes"])
def test_what_is_not_there_is_not_found_and_strangers_are_turned_away(api: APIClient, gpu: Gpu, path: str) -> None:
    assert api.get(f"/api/v1/gpus/999/{path}").status_code == 404
    assert APIClient().get(f"/api/v1/gpus/{gpu.pk}/{path}").status_code == 401


def test_several_gpus_are_tested_or_none(pool_admin: APIClient, api: APIClient, gpu: Gpu) -> None:
    ids = list(Gpu.objects.values_list("pk", flat=True))
    assert api.post("/api/v1/gpus:test", {"gpus": ids, "reason": "mine"}).status_code == 403
    assert list(pool_admin.post("/api/v1/gpus:test", {"gpus": [*ids, 999], "reason": "x"}).json()["errors"]) == ["gpus"]
    assert not GpuTest.objects.exists()
    for wrong in ({"gpus": [], "reason": "x"}, {"gpus": ids, "reason": " "}, {"gpus": ids}):
        assert pool_admin.post("/api/v1/gpus:test", wrong).status_code == 400
    asked = pool_admin.post("/api/v1/gpus:test", {"gpus": ids, "reason": "after the move"})
    assert (asked.status_code, [test["state"] for test in asked.json()["results"]]) == (202, ["queued"] * 2)
    assert AuditEntry.objects.filter(action="gpu.test").count() == 2
    tests = {row["uuid"]: row["test"]["state"] for row in api.get("/api/v1/gpus").json()["results"]}
    assert tests == {"GPU-a": "queued", "GPU-b": "queued"}, "everybody sees that it waits"
