"""Tests of GPUs over REST: everybody reads them, pool admins ask for them and set until when maintenance lasts."""

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import AuditEntry
from fleet.health.gpu_test_lanes import claim
from fleet.health.gpu_test_reports import take
from fleet.health.upkeep import end_maintenance
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, GpuTest, Node
from worker.contracts.gpu_tests import GpuTestReport, GpuTestStep, GpuTestStepName, StepOutcome

pytestmark = pytest.mark.django_db
STEPS = tuple(GpuTestStep(name=name, outcome=StepOutcome.PASSED, seconds=0.5) for name in GpuTestStepName)


@pytest.fixture
def gpu(db: None) -> Gpu:
    ensure_local_lanes(num_cpu_lanes=1, gpu_indices=range(2), accelerator="H100")
    return Gpu.objects.get(index=0)


def test_an_admin_tests_a_gpu_and_everybody_reads_how_it_went(pool_admin: APIClient, api: APIClient, gpu: Gpu) -> None:
    address = f"/api/v1/gpus/{gpu.pk}/tests"
    asked = pool_admin.post(address, {"reason": "it was slow"})
    assert (asked.status_code, asked.json()["state"], asked.json()["requested_by"]) == (202, "queued", "pool-admin")
    assert pool_admin.post(address, {"reason": "again"}).json()["id"] == asked.json()["id"], "the open one"
    assert pool_admin.get(f"/api/v1/gpus/{gpu.pk}").json()["state"] == "awaiting_test"
    assert AuditEntry.objects.filter(action="gpu.test").count() == 2

    test = GpuTest.objects.get()
    assert claim(test.pk, "secret") is not None
    held = api.get("/api/v1/gpus").json()["results"]
    assert [each["state"] for each in held] == ["awaiting_test", "allocated"], "the peer is held"
    roles = {lane["label"]: lane["role"] for lane in api.get("/api/v1/lanes", {"kind": "gpu"}).json()["results"]}
    assert roles == {"local/gpu-0": "test", "local/gpu-1": "test"}

    take(GpuTest.objects.get(), GpuTestReport(steps=STEPS, is_final=True))
    (found,) = api.get(address).json()["results"]
    assert (found["state"], found["peer"], found["reason"]) == ("passed", "local/gpu-1", "")
    assert [step["name"] for step in found["steps"]] == [name.value for name in GpuTestStepName]
    assert found["started_at"] and found["ended_at"]


def test_tests_come_newest_first_and_by_the_page(pool_admin: APIClient, gpu: Gpu) -> None:
    for hours in range(3):
        GpuTest.objects.create(
            gpu=gpu,
            requested_by=str(hours),
            created_at=timezone.now() - timedelta(hours=hours),
            state="passed",
            ended_at=timezone.now(),
        )
    address = f"/api/v1/gpus/{gpu.pk}/tests"
    first = pool_admin.get(address, {"limit": 2}).json()
    assert [test["requested_by"] for test in first["results"]] == ["0", "1"]
    assert [test["requested_by"] for test in pool_admin.get(first["next"]).json()["results"]] == ["2"]
    assert pool_admin.get(address, {"limit": 0}).status_code == 400


def test_others_may_not_and_a_reason_is_needed(pool_admin: APIClient, api: APIClient, gpu: Gpu) -> None:
    address = f"/api/v1/gpus/{gpu.pk}/tests"
    assert api.post(address, {"reason": "mine"}).status_code == 403
    for body in ({}, {"reason": " "}, {"reason": "x" * 300}):
        assert list(pool_admin.post(address, body).json()["errors"]) == ["reason"]
    assert pool_admin.post("/api/v1/gpus/99/tests", {"reason": "x"}).status_code == 404
    assert pool_admin.get("/api/v1/gpus/99/tests").status_code == 404
    assert APIClient().get(address).status_code == 401
    assert not GpuTest.objects.exists()


@pytest.mark.parametrize("what", ["nodes", "gpus"])
def test_maintenance_lasts_until_the_time_that_is_given(pool_admin: APIClient, gpu: Gpu, what: str) -> None:
    row: Gpu | Node = gpu if what == "gpus" else gpu.node
    address, later = f"/api/v1/{what}/{row.pk}/actions", timezone.now() + timedelta(hours=2)
    body = {"action": "maintenance", "reason": "new fans", "until": later.isoformat()}
    assert pool_admin.post(address, body).json()["state"] == "maintenance"
    row.refresh_from_db()
    assert (row.state_until, end_maintenance()) == (later, 0)
    type(row).objects.filter(pk=row.pk).update(state_until=timezone.now())
    assert end_maintenance() == 1
    assert GpuTest.objects.count() == (1 if what == "gpus" else 2)
    for wrong in ({**body, "action": "cordon"}, {**body, "until": "2020-01-01T00:00:00Z"}, {**body, "until": "soon"}):
        assert list(pool_admin.post(address, wrong).json()["errors"]) == ["until"]
