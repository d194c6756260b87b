"""The job of a test against the real web, on a card whose readings are a recorded trace: from its code to the GPU's
return. Only the first import of torch in a process can be told which devices it sees, so it is a process of its own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet.health.gpu_tests import request_test
from fleet.models import Gpu, GpuTest
from fleet.selectors import free_lanes
from runs.cluster import JobStatus
from runs.pool import gpu_test_jobs as jobs
from tests.web.fake_cluster import FakeCluster
from tests.web.fleet.node_posts import alive, card, post_node
from worker.contracts.ingest import PUBLIC_URL_VARIABLE
from worker.contracts.node_reports import GPU_TRACE_VARIABLE

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_job_tests_a_gpu_with_its_peer_and_returns_it(cluster: FakeCluster, live_server: Any) -> None:
    post_node(alive("gpu0"), card("GPU-a", 0), card("GPU-b", 1))
    test = request_test(Gpu.objects.get(uuid="GPU-a"), by="pool-admin", reason="to be sure")
    jobs.watch(gateway=cluster)
    name = jobs.job_name(test.pk)
    job = subprocess.run(
        [sys.executable, *cluster.entrypoints[name].split()[1:]],
        cwd=ROOT,
        env={
            **os.environ,
            **cluster.envs[name],
            PUBLIC_URL_VARIABLE: live_server.url,
            GPU_TRACE_VARIABLE: "a trace",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert job.returncode == 0, job.stderr
    test.refresh_from_db()
    assert [(step["name"], step["outcome"]) for step in test.steps] == [
        ("device", "passed"),
        ("matrix_product", "passed"),
        ("memory_sweep", "passed"),
        ("engine", "passed"),
        ("all_reduce", "passed"),
    ], test.steps
    details = {step["name"]: step["detail"] for step in test.steps}
    assert "its UUID is GPU-a" in details["device"]
    assert "with GPU-b are exact" in details["all_reduce"]
    assert (test.state, Gpu.objects.get(uuid="GPU-a").state) == ("passed", "active")
    cluster.jobs[name] = JobStatus.SUCCEEDED
    jobs.watch(gateway=cluster)
    assert (free_lanes(), GpuTest.objects.count()) == ({"gpu": 2, "cpu": 2}, 1)
