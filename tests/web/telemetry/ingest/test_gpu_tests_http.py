"""The HTTP interface of the jobs that test GPUs, with what the job itself sends."""

from typing import Any

import pytest
from django.test import Client

from fleet.health.gpu_test_lanes import claim
from fleet.health.gpu_tests import request_test
from fleet.models import Gpu, GpuTest
from tests.web.fleet.node_posts import alive, card, post_node
from worker.contracts.gpu_tests import (
    GPU_TEST_BOOTSTRAP_PATH,
    GPU_TEST_REPORT_PATH,
    GpuTestJob,
    GpuTestReport,
    GpuTestStep,
    GpuTestStepName,
    StepOutcome,
)

pytestmark = pytest.mark.django_db
STEPS = tuple(GpuTestStep(name=name, outcome=StepOutcome.PASSED, seconds=0.5) for name in GpuTestStepName)


@pytest.fixture
def code() -> str:
    post_node(alive("gpu0"), card("GPU-a", 0))
    test = request_test(Gpu.objects.get(), by="pool-admin", reason="to be sure")
    assert claim(test.pk, "secret") is not None
    return f"{test.pk}.secret"


def bootstrap(client: Client, code: str) -> Any:
    return client.post(GPU_TEST_BOOTSTRAP_PATH, {"code": code}, content_type="application/json")


def post(client: Client, job: GpuTestJob, body: str, token: str | None = None) -> Any:
    headers = {"Authorization": f"Bearer {job.token if token is None else token}"}
    path = GPU_TEST_REPORT_PATH.format(test=job.test)
    return client.post(path, body, content_type="application/json", headers=headers)


@pytest.fixture
def job(client: Client, code: str) -> GpuTestJob:
    return GpuTestJob.model_validate_json(bootstrap(client, code).content)


def test_a_job_trades_its_code_and_reports_to_the_end(client: Client, job: GpuTestJob) -> None:
    assert (job.device, job.peer) == ("GPU-a", None)
    assert post(client, job, GpuTestReport(steps=STEPS[:1], is_final=False).model_dump_json()).status_code == 204
    assert GpuTest.objects.get().steps[0]["name"] == "device"
    last = GpuTestReport(steps=STEPS, is_final=True).model_dump_json()
    assert post(client, job, last).status_code == 204
    assert (GpuTest.objects.get().state, Gpu.objects.get().state) == ("passed", "active")
    assert post(client, job, last).status_code == 410


def test_refusals_have_their_statuses(client: Client, code: str) -> None:
    assert bootstrap(client, "x").status_code == 401
    assert client.post(GPU_TEST_BOOTSTRAP_PATH, "[]", content_type="application/json").status_code == 422
    job = GpuTestJob.model_validate_json(bootstrap(client, code).content)
    assert bootstrap(client, code).status_code == 401
    whole = GpuTestReport(steps=STEPS, is_final=True).model_dump_json()
    for token in ("", "x"):
        assert post(client, job, whole, token).status_code == 401
    for body in ("", "[]", '{"steps": []}', '{"steps": [{"name": "luck"}], "is_final": true}'):
        assert post(client, job, body).status_code == 422
    assert GpuTest.objects.get().state == "running"
    GpuTest.objects.update(state="failed")
    assert bootstrap(client, code).status_code == 410
