"""The node agent: one watcher for each node of the cluster, and a post of what they report.

```text
every few seconds   Ray's list of nodes ─► watchers started and forgotten, GPUs held
                    watchers ─► NodeReport ─┐
                                            └─► one post to the web (a report that comes late goes with the next)
```

A watcher that dies is started again with the next round, so that a node whose GPU driver kills its process stays
reported as far as Ray sees it. Invariant: reports are never queued; the web wants the newest.
"""

import logging
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from worker.contracts.lanes import gpu_resource
from worker.contracts.node_reports import (
    CPU_LANES_LABEL,
    DEFAULT_NUM_CPU_LANES,
    AgentBootstrapAnswer,
    ClusterNode,
    NodeReport,
    NodeReports,
)
from worker.node.holding import GpuHolder
from worker.node.naming import NodeNames
from worker.node.watcher import NodeWatcher

logger = logging.getLogger(__name__)

RayNode = Mapping[str, Any]
"""An entry of `ray.nodes()`."""


@dataclass(slots=True)
class Watched:
    """A node with its watcher."""

    actor: Any
    pending: Any
    """The report that was asked for and has not come."""


class NodeAgent:
    """Watches the nodes of the cluster that this process is connected to."""

    def __init__(self, answer: AgentBootstrapAnswer, post: Callable[[NodeReports], None]) -> None:
        """`post` sends reports to the web; what it raises ends the agent."""
        self._report_seconds, self._post = answer.report_seconds, post
        self._names = NodeNames(answer.names)
        self._holder = GpuHolder()
        self._watched: dict[str, Watched] = {}

    def run(self) -> None:
        """Report until `post` raises."""
        self._holder.take_over([node["NodeID"] for node in _alive()])
        while True:
            began = time.monotonic()
            self.report()
            time.sleep(max(0.0, began + self._report_seconds - time.monotonic()))

    def report(self) -> None:
        """One round."""
        nodes = _alive()
        self._holder.follow(nodes)
        self._follow([node["NodeID"] for node in nodes])
        alive = {node["NodeID"] for node in nodes}
        self._post(
            NodeReports(
                alive=tuple(self._cluster_node(node, alive) for node in nodes),
                nodes=tuple(self._reports()),
                head_address=ray.get_runtime_context().gcs_address,
            )
        )

    def _cluster_node(self, node: RayNode, alive: Collection[str]) -> ClusterNode:
        name = self._names.of(node, alive)
        return ClusterNode(
            name=name,
            ray_node_id=node["NodeID"],
            address=node["NodeManagerAddress"],
            num_cpu_lanes=num_cpu_lanes(node),
            has_gpu_resources=gpu_resource(name, 0) in node["Resources"],
            are_gpus_held=self._holder.is_held(node["NodeID"]),
            object_store_bytes=_object_store_bytes(node),
        )

    def _follow(self, alive: Collection[str]) -> None:
        """Start watchers of nodes that are new, and let go of those of nodes that are gone."""
        for gone in self._watched.keys() - set(alive):
            del self._watched[gone]
        for node_id in alive:
            if node_id not in self._watched:
                strategy = NodeAffinitySchedulingStrategy(node_id, soft=False)
                actor = ray.remote(NodeWatcher).options(num_cpus=0, scheduling_strategy=strategy).remote(node_id)
                self._watched[node_id] = Watched(actor, actor.report.remote())

    def _reports(self) -> list[NodeReport]:
        """The reports that have come, and the next ones asked for."""
        by_ref = {watched.pending: (node_id, watched) for node_id, watched in self._watched.items()}
        if not by_ref:
            return []
        come, _ = ray.wait(list(by_ref), num_returns=len(by_ref), timeout=self._report_seconds / 2)
        reports = []
        for ref in come:
            node_id, watched = by_ref[ref]
            try:
                reports.append(ray.get(ref))
                watched.pending = watched.actor.report.remote()
            except ray.exceptions.RayError as error:
                # Dead, or confused by what its driver answered: either way a new one begins afresh.
                logger.warning("the watcher of node %s failed and is started again: %s", node_id, error)
                ray.kill(watched.actor)
                del self._watched[node_id]
        return reports


def num_cpu_lanes(node: RayNode) -> int:
    """The CPU lanes that a node says it has by its label; by default as many as its CPUs allow up to a few, so none on
    a head that Ray runs nothing on."""
    label: str | None = node["Labels"].get(CPU_LANES_LABEL)
    return min(DEFAULT_NUM_CPU_LANES, int(node["Resources"].get("CPU", 0))) if label is None else int(label)


def _object_store_bytes(node: RayNode) -> int | None:
    """Ray lists the store among a node's resources, in bytes."""
    found = node["Resources"].get("object_store_memory")
    return None if found is None else int(found)


def _alive() -> list[RayNode]:
    return [node for node in ray.nodes() if node["Alive"]]
