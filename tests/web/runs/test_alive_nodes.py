"""Which of Ray's nodes are alive, asked of a real head."""

import socket
import time
from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings
from ray.cluster_utils import Cluster

from runs.cluster import RayCluster
from worker.contracts.node_reports import NODE_LABEL

WAIT_SECONDS = 60.0


@pytest.fixture
def cluster(settings: Settings) -> Iterator[Cluster]:
    """A head that is asked by HTTP, and two nodes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    head = {"num_cpus": 1, "include_dashboard": True, "dashboard_host": "127.0.0.1", "dashboard_port": port}
    made = Cluster(initialize_head=True, head_node_args=head)
    settings.RAY_ADDRESS = f"http://127.0.0.1:{port}"
    yield made
    made.shutdown()


def names() -> set[str]:
    return {node.label for node in RayCluster().nodes() if node.label}


def wait_for(expected: set[str]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while (found := names()) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(0.5)


@pytest.mark.ray
def test_a_node_that_died_hides_none_of_the_others(cluster: Cluster) -> None:
    dies = cluster.add_node(num_cpus=1, labels={NODE_LABEL: "dies"})
    cluster.add_node(num_cpus=1, labels={NODE_LABEL: "stays"})
    wait_for({"dies", "stays"})
    dies.kill_raylet()
    wait_for({"stays"})
