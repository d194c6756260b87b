"""The agent on a real Ray cluster of several nodes, whose GPUs are recorded traces."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

from tests.node.traces import cards, write_trace
from worker.contracts.node_reports import (
    CPU_LANES_LABEL,
    GPU_TRACE_VARIABLE,
    NODE_LABEL,
    AgentBootstrapAnswer,
    ClusterNode,
    NodeReport,
    NodeReports,
)
from worker.node.agent import NodeAgent

pytestmark = pytest.mark.ray
ROUND_SECONDS = 0.2
WAIT_SECONDS = 60.0


class Posts:
    """An agent, and what it has posted."""

    def __init__(self) -> None:
        self.all: list[NodeReports] = []
        answer = AgentBootstrapAnswer(
            session="00000000-0000-4000-8000-000000000000", token="t", report_seconds=ROUND_SECONDS
        )
        self.agent = NodeAgent(answer, self.all.append)

    def until(self, holds: Callable[[dict[str, ClusterNode], dict[str, NodeReport]], bool]) -> dict[str, NodeReport]:
        """Let the agent report until `holds(nodes by name, reports by name)`; returns the newest reports."""
        deadline = time.monotonic() + WAIT_SECONDS
        reports: dict[str, NodeReport] = {}
        while time.monotonic() < deadline:
            self.agent.report()
            post = self.all[-1]
            nodes = {node.name: node for node in post.alive}
            names = {node.ray_node_id: node.name for node in post.alive}
            reports |= {names[report.ray_node_id]: report for report in post.nodes}
            if holds(nodes, reports):
                return reports
        raise AssertionError(f"not within {WAIT_SECONDS:.0f} s, last: {self.all[-1]}")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A head without GPUs, a node of Tandem's own with two H100s, and one that others started with an L40S."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "labels": {NODE_LABEL: "head"}})
    own = write_trace(tmp_path / "own", (0.0, cards("H100", 2)))
    others = write_trace(tmp_path / "others", (0.0, cards("L40S", 1)))
    made.add_node(
        num_cpus=8,
        resources={"tandem-own-gpu-0": 1, "tandem-own-gpu-1": 1},
        labels={NODE_LABEL: "own", CPU_LANES_LABEL: "3"},
        env_vars={GPU_TRACE_VARIABLE: own},
    )
    made.add_node(num_cpus=1, num_gpus=1, env_vars={GPU_TRACE_VARIABLE: others})
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def test_nodes_are_reported_held_lost_and_watched_again(cluster: Cluster) -> None:
    posts = Posts()
    reports = posts.until(lambda nodes, reports: len(reports) == 3 and _are_held(nodes))
    nodes = {node.name: node for node in posts.all[-1].alive}
    (others,) = nodes.keys() - {"head", "own"}

    # What Ray and the watchers say.
    assert {name: [gpu.identity.uuid for gpu in report.gpus] for name, report in reports.items()} == {
        "head": [],
        "own": ["GPU-h100-0", "GPU-h100-1"],
        others: ["GPU-l40s-0"],
    }
    assert {name: (node.has_gpu_resources, node.num_cpu_lanes) for name, node in nodes.items()} == {
        "head": (False, 2),
        "own": (True, 3),
        others: (False, 1),
    }
    assert posts.all[-1].head_address == cluster.address
    assert all(report.memory_used_bytes < report.memory_bytes for report in reports.values())
    assert all(report.shm_free_bytes and report.spill_free_bytes for report in reports.values())
    assert all(report.embeddings_room_bytes for report in reports.values())
    stores = {node["NodeID"]: node["Resources"]["object_store_memory"] for node in ray.nodes()}
    assert all(node.object_store_bytes == stores[node.ray_node_id] for node in nodes.values())

    # The GPU that others' programs could have had is Tandem's, also for the next agent.
    assert "GPU" not in ray.available_resources()
    again = Posts()
    again.agent._holder.take_over([node["NodeID"] for node in ray.nodes() if node["Alive"]])
    again.until(lambda nodes, reports: len(nodes) == 3 and nodes[others].are_gpus_held)

    # A watcher that is killed is followed by another.
    watcher = posts.agent._watched[nodes["own"].ray_node_id].actor
    os.kill(ray.get(watcher.process.remote()), signal.SIGKILL)
    num_posts = len(posts.all)
    posts.until(lambda nodes, reports: False if len(posts.all) < num_posts + 5 else "own" in _reported(posts))

    # A node that dies is listed no more, and its GPU is let go of.
    cluster.remove_node(next(node for node in cluster.worker_nodes if node.node_id == nodes[others].ray_node_id))
    posts.until(lambda nodes, reports: set(nodes) == {"head", "own"})
    assert others not in _reported(posts)


def _are_held(nodes: dict[str, ClusterNode]) -> bool:
    return all(node.are_gpus_held for node in nodes.values())


def _reported(posts: Posts) -> set[str]:
    """Names of the nodes in the last post's reports."""
    names = {node.ray_node_id: node.name for node in posts.all[-1].alive}
    return {names[report.ray_node_id] for report in posts.all[-1].nodes}


def test_gpus_that_another_program_uses_are_not_held_until_it_ends(cluster: Cluster) -> None:
    class Program:
        def works(self) -> bool:
            return True

    program = ray.remote(num_gpus=1)(Program).remote()
    assert ray.get(program.works.remote())
    posts = Posts()
    posts.until(lambda nodes, reports: len(nodes) == 3)
    assert [node.name for node in posts.all[-1].alive if not node.are_gpus_held] == [
        name for name in (node.name for node in posts.all[-1].alive) if name not in ("head", "own")
    ]
    ray.kill(program)
    posts.until(lambda nodes, reports: _are_held(nodes))
