"""Takes over what node agents report: nodes and GPUs come by themselves, and what is known of them stays.

    Ray's list ─► nodes by name ─► lost and found
    reports    ─► GPUs by UUID; by index where the driver had not been asked before ─► a lane for each new one
               └► readings of the minute under way; one row of history a GPU when it ends

Invariant: nothing here changes who holds a lane, or what admins decided; a node or GPU that is no longer reported keeps
its record. Every node reports every few seconds, so what has not changed is not written
(`fleet.reports.report_writes`).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from fleet.health.gpu_health import FIELDS as HEALTH_FIELDS
from fleet.health.gpu_health import follow
from fleet.health.idleness import FIELDS as USE_FIELDS
from fleet.health.idleness import follow_use, holds
from fleet.lane_layout import give_gpus_lanes, set_cpu_lanes
from fleet.models import Gpu, Lane, Node, NodeAgent
from fleet.pools.pool_changes import publish_reports
from fleet.pools.pool_membership import assign_pools, lock_membership
from fleet.reports.live_rollups import keep_readings
from fleet.reports.report_writes import Watched, store_live_values
from fleet.states.standing import AGENT
from fleet.states.state_changes import mark_found, mark_lost
from worker.contracts.lanes import gpu_resource
from worker.contracts.node_reports import ClusterNode, GpuIdentity, GpuReport, NodeReport, NodeReports

LOST_AFTER = timedelta(seconds=30)
"""For how long Ray may leave a node out before it counts as lost: Ray itself waits some 10 s for a heartbeat, and a
restart of its process takes as long again."""
_OF_NODE = ("ray_node_id", "address", "are_gpus_held", "object_store_bytes")
_OF_NODE_REPORT = (
    *("num_cores", "memory_bytes", "memory_used_bytes", "load", "shm_free_bytes", "spill_free_bytes"),
    *("embeddings_room_bytes", "reader_error", "reported_at"),
)
_OF_GPU = ("uuid", "index", "accelerator", "resource", "identity", "topology", "faults", *HEALTH_FIELDS, *USE_FIELDS)


@transaction.atomic
def take(agent: NodeAgent, reports: NodeReports) -> None:
    """Store the reports of an agent that is the newest."""
    lock_membership()
    now = timezone.now()
    NodeAgent.objects.filter(pk=agent.pk).update(reported_at=now, head_address=reports.head_address)
    # Two posts at once must not make the same node twice; the lock is the agent's row, which was just written.
    nodes = _take_alive(reports.alive, now)
    _mark_lost_nodes(now)
    reported, gpus = _take_reports(nodes, [report for report in reports.nodes if report.ray_node_id in nodes], now)
    publish_reports([node for node, _ in nodes.values()], reported, gpus, at=now)


def keep_rooms(node: str, **bytes_by_column: int | None) -> None:
    """Note what a node has room for where no agent reports the node, by the columns of `Node`."""
    Node.objects.filter(name=node).update(**bytes_by_column)


def _take_alive(alive: Iterable[ClusterNode], now: datetime) -> dict[str, tuple[Node, ClusterNode]]:
    """The nodes that Ray lists, by Ray's id, each with what Ray says."""
    found = {}
    known = {node.name: node for node in Node.objects.all()}
    watched = Watched(Node, _OF_NODE)
    for seen in alive:
        node = known.get(seen.name)
        if node is None:
            node = Node.objects.create(name=seen.name)
            set_cpu_lanes(node, seen.num_cpu_lanes)
        if node.lost_since is not None:
            mark_found([node], by=AGENT, at=now)
        watched.add(node)
        node.ray_node_id, node.address = seen.ray_node_id, seen.address
        node.are_gpus_held, node.in_cluster_at = seen.are_gpus_held, now
        node.object_store_bytes = seen.object_store_bytes
        found[seen.ray_node_id] = node, seen
    watched.store()
    Node.objects.filter(pk__in=[node.pk for node, _ in found.values()]).update(in_cluster_at=now)
    return found


def _mark_lost_nodes(now: datetime) -> None:
    gone = Node.objects.filter(lost_since=None, in_cluster_at__lt=now - LOST_AFTER)
    mark_lost(gone, by=AGENT, reason="Ray does not count it as alive any more", at=now)


def _take_reports(
    nodes: Mapping[str, tuple[Node, ClusterNode]], reports: Iterable[NodeReport], now: datetime
) -> tuple[list[Node], list[Gpu]]:
    """The nodes and GPUs that were reported."""
    gpus, reported = _KnownGpus(), Watched(Node, _OF_NODE_REPORT)
    for report in reports:
        node, seen = nodes[report.ray_node_id]
        reported.add(node)
        node.num_cores, node.load = report.num_cpus, report.load
        node.memory_bytes, node.memory_used_bytes = report.memory_bytes, report.memory_used_bytes
        node.shm_free_bytes, node.spill_free_bytes = report.shm_free_bytes, report.spill_free_bytes
        node.embeddings_room_bytes = report.embeddings_room_bytes
        node.reader_error, node.reported_at = report.reader_error, now
        for gpu in report.gpus:
            gpus.take(node, seen, gpu, now)
    reported.store()
    gpus.seen.store()
    seen_gpus = gpus.seen.rows()
    store_live_values(seen_gpus, now)
    keep_readings(seen_gpus, now)
    without_lane = {gpu.node_id for gpu in seen_gpus if gpu.lane_id is None}
    for node in reported.rows():
        if node.pk in without_lane:
            give_gpus_lanes(node)
    return reported.rows(), seen_gpus


class _KnownGpus:
    """The cards that the pool knows."""

    def __init__(self) -> None:
        # Live values are what is about to be replaced.
        gpus = list(Gpu.objects.prefetch_related("node").defer("live"))
        self._by_uuid = {gpu.uuid: gpu for gpu in gpus if gpu.uuid}
        self._unnamed = {(gpu.node_id, gpu.index): gpu for gpu in gpus if not gpu.uuid}
        self._holds = holds()
        self.seen = Watched(Gpu, _OF_GPU)

    def take(self, node: Node, seen: ClusterNode, report: GpuReport, now: datetime) -> None:
        """Write a report into its card's row, which is stored at once only if it is new or has moved."""
        identity = report.identity
        row = self._by_uuid.get(identity.uuid) or self._unnamed.pop((node.pk, identity.index), None)
        if row is None:
            row = Gpu.objects.create(node=node, uuid=identity.uuid, index=identity.index)
        elif row.node_id != node.pk:
            _move(row, node)
        self.seen.add(row)
        self._by_uuid[identity.uuid] = row
        row.uuid, row.index, row.accelerator = identity.uuid, identity.index, identity.model
        row.resource = gpu_resource(node.name, identity.index) if seen.has_gpu_resources else ""
        row.identity, row.topology = _identity(row, identity), report.topology.model_dump(mode="json")
        row.live, row.faults = report.live.model_dump(mode="json"), report.faults.model_dump(mode="json")
        row.reported_at = now
        _follow_loss(row, is_lost=report.faults.is_lost, now=now)
        follow(row, report.faults, now)
        follow_use(row, report.live.utilisation, self._holds.get(row.lane_id or 0), now)


def _follow_loss(row: Gpu, *, is_lost: bool, now: datetime) -> None:
    if is_lost and row.lost_since is None:
        mark_lost([row], by=AGENT, reason="its driver does not reach it any more", at=now)
    elif not is_lost and row.lost_since is not None:
        mark_found([row], by=AGENT, at=now)


def _move(row: Gpu, node: Node) -> None:
    """The card was put into another machine. Its old lane goes with the run that still holds it, if one does."""
    lane = row.lane
    row.node, row.lane = node, None
    row.save(update_fields=["node", "lane"])
    if lane is not None and lane.held_since is None:
        lane.delete()
    elif lane is not None:
        assign_pools(Lane.objects.filter(pk=lane.pk))


def names_by_ray_id(nodes: Iterable[Node]) -> dict[str, str]:
    """The names of the nodes that Ray knows."""
    return {node.ray_node_id: node.name for node in nodes if node.ray_node_id}


def _identity(row: Gpu, identity: GpuIdentity) -> dict[str, Any]:
    """What the card is now. An agent that has begun anew measures a card only when it is idle: until then what was
    measured before holds."""
    known = row.identity.get("figures") if row.identity.get("model") == identity.model else None
    now: dict[str, Any] = identity.model_dump(mode="json")
    return {**now, "figures": now["figures"] or known}
