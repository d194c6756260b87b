"""Reports of node agents, as small as they can be."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from fleet.models import Node, NodeAgent
from fleet.reports.report_intake import take
from worker.contracts.node_reports import (
    ClusterNode,
    GpuFaults,
    GpuIdentity,
    GpuLive,
    GpuReport,
    NodeReport,
    NodeReports,
    Vendor,
)


def card(
    uuid: str,
    index: int,
    *,
    model: str = "NVIDIA H100 80GB HBM3",
    parent_uuid: str = "",
    live: Mapping[str, Any] | None = None,
    **fields: Any,
) -> GpuReport:
    """A card with this UUID; `is_lost` and other faults by name."""
    identity = GpuIdentity(
        uuid=uuid,
        index=index,
        vendor=Vendor.NVIDIA,
        model=model,
        memory_bytes=80 * 2**30,
        parent_uuid=parent_uuid,
    )
    return GpuReport(identity=identity, live=GpuLive(**(live or {})), faults=GpuFaults(**fields))


def alive(name: str, ray_node_id: str = "", **fields: Any) -> ClusterNode:
    return ClusterNode(
        name=name, ray_node_id=ray_node_id or f"ray-{name}", address="10.0.0.1", **{"num_cpu_lanes": 2, **fields}
    )


def report(node: ClusterNode, *gpus: GpuReport, reader_error: str = "") -> NodeReport:
    return NodeReport(
        ray_node_id=node.ray_node_id,
        at=0.0,
        num_cpus=32,
        memory_bytes=256 * 2**30,
        memory_used_bytes=2**30,
        load=1.5,
        gpus=gpus,
        reader_error=reader_error,
    )


def post(*nodes: ClusterNode, reports: tuple[NodeReport, ...] = ()) -> None:
    """One post of an agent that is the only one."""
    agent = NodeAgent.objects.first() or NodeAgent.objects.create(code_hash="", code_expires_at=timezone.now())
    take(agent, NodeReports(alive=nodes, nodes=reports, head_address="10.0.0.1:6379"))


def post_node(node: ClusterNode, *gpus: GpuReport) -> None:
    """One post with the report of one node; Ray lists those of earlier posts as well."""
    known = Node.objects.filter(in_cluster_at__isnull=False, lost_since=None).exclude(name=node.name)
    others = [alive(other.name, other.ray_node_id, are_gpus_held=other.are_gpus_held) for other in known]
    post(node, *others, reports=(report(node, *gpus),))
