"""Which of Ray's nodes are alive, asked of a real head."""

import time

import pytest
from pytest_django.fixtures import Settings

from runs.cluster import RayCluster
from tests.web.ray_head import ray_head
from worker.contracts.node_reports import NODE_LABEL

WAIT_SECONDS = 60.0


def names() -> set[str]:
    return {node.label for node in RayCluster().nodes() if node.label}


def wait_for(expected: set[str]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while (found := names()) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(0.5)


@pytest.mark.slow
@pytest.mark.ray
def test_a_node_that_died_hides_none_of_the_others(settings: Settings) -> None:
    with ray_head(settings) as cluster:
        dies = cluster.add_node(num_cpus=1, labels={NODE_LABEL: "dies"})
        cluster.add_node(num_cpus=1, labels={NODE_LABEL: "stays"})
        wait_for({"dies", "stays"})
        dies.kill_raylet()
        wait_for({"stays"})
