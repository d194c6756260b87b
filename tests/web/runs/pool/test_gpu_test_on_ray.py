"""A GPU's test as the pool runs it: Ray's Jobs API places the job on the GPU's node, which has a recorded trace."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from pytest_django.fixtures import Settings
from ray.cluster_utils import Cluster

from fleet.health.gpu_tests import request_test
from fleet.models import Gpu, Lane, LaneUse
from fleet.selectors import free_lanes
from runs.cluster import RayCluster, _client
from runs.pool import gpu_test_jobs as jobs
from tests.node.traces import cards, write_trace
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.ray_head import ray_head
from worker.contracts.node_reports import GPU_TRACE_VARIABLE, NODE_LABEL

WAIT_SECONDS = 150.0


@pytest.fixture
def cluster(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A head with a Jobs API and no GPU, and a node that Tandem started with two."""
    # Jobs find their `python` there.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with ray_head(settings) as made:
        made.add_node(
            num_cpus=2,
            resources={"tandem-own-gpu-0": 1, "tandem-own-gpu-1": 1},
            labels={NODE_LABEL: "own"},
            env_vars={GPU_TRACE_VARIABLE: write_trace(tmp_path / "own", (0.0, cards("H100", 2)))},
        )
        _client.cache_clear()
        ray.init(address=made.address, log_to_driver=False)
        yield made
        _client.cache_clear()
        ray.shutdown()


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.django_db(transaction=True)
def test_a_gpu_is_tested_on_its_node_and_returned(cluster: Cluster, live_server: Any, settings: Settings) -> None:
    settings.TANDEM_PUBLIC_URL = live_server.url
    (own,) = (node["NodeID"] for node in ray.nodes() if "tandem-own-gpu-0" in node["Resources"])
    post_node(alive("own", own, has_gpu_resources=True), card("GPU-h100-0", 0), card("GPU-h100-1", 1))
    gpu = Gpu.objects.get(index=0)
    test, gateway = request_test(gpu, by="pool-admin", reason="to be sure"), RayCluster()
    whole, was_occupied = ray.cluster_resources(), False
    deadline = time.monotonic() + WAIT_SECONDS
    while test.ended_at is None or Lane.objects.exclude(held_since=None).exists():
        assert time.monotonic() < deadline, (test.state, test.reason, gateway.log_tail(jobs.job_name(test.pk)))
        jobs.watch(gateway=gateway)
        was_occupied = was_occupied or "tandem-own-gpu-1" not in ray.available_resources()
        time.sleep(0.5)
        test.refresh_from_db()
    said = _client().get_job_info(jobs.job_name(test.pk)).message
    assert (test.state, test.num_repeats) == ("passed", 0), (test.reason, test.steps, said)
    assert {step["outcome"] for step in test.steps} == {"passed"}, test.steps
    assert "its UUID is GPU-h100-0" in test.steps[0]["detail"], "which only a process on that node sees"
    gpu.refresh_from_db()
    assert (gpu.state, free_lanes()) == ("active", {"gpu": 2, "cpu": 2})
    assert LaneUse.objects.filter(test_id=test.pk).exclude(until=None).count() == 2
    assert was_occupied
    while ray.available_resources().get("tandem-own-gpu-0") != whole["tandem-own-gpu-0"]:
        assert time.monotonic() < deadline, "Ray's resource was not given back"
        time.sleep(0.1)
