"""The free lanes as `fleet.allocation.lane_choice` needs them, read with three narrow queries however many they are."""

from typing import Any

from django.db.models import Count, QuerySet

from fleet.allocation.lane_choice import FreeLane
from fleet.models import Gpu, Lane, LaneKind
from fleet.selectors import CPU
from worker.contracts.device_names import several

RACK = "rack"
"""The label of a node that says in which rack it stands."""


def described(lanes: QuerySet[Lane]) -> list[FreeLane]:
    """These free lanes, which are of one kind, with what is known of their place."""
    plain = lanes.select_related(None).prefetch_related(None).order_by()
    rows = list(plain.values_list("pk", "kind", "node_id", "node__name", "index", "node__labels"))
    links = _links([pk for pk, *_ in rows])
    broken = _broken_nodes({kind for _, kind, *_ in rows})
    found = []
    for pk, kind, node_id, node, index, labels in rows:
        gpus = links.get(pk, [])
        topologies = [topology for _, _, topology in gpus]
        numa_nodes = {topology.get("numa_node") for topology in topologies}
        found.append(
            FreeLane(
                key=pk,
                node=node,
                index=index,
                device=CPU if kind == LaneKind.CPU else several(next((model for _, model, _ in gpus), ""), len(gpus)),
                uuids=tuple(uuid for uuid, _, _ in gpus if uuid),
                nvlink_peers=frozenset(peer for each in topologies for peer in each.get("nvlink_peers", ())),
                numa_node=numa_nodes.pop() if len(numa_nodes) == 1 else None,
                rack=labels.get(RACK, ""),
                is_node_whole=(node_id, kind) not in broken,
            )
        )
    return found


def _links(lanes: list[int]) -> dict[int, list[tuple[str, str, dict[str, Any]]]]:
    """By lane: UUID, accelerator and `GpuTopology` of each of its GPUs."""
    by_lane: dict[int, list[tuple[str, str, dict[str, Any]]]] = {}
    rows = Gpu.objects.filter(lane__in=lanes).order_by("index", "uuid")
    for lane, *about in rows.values_list("lane_id", "uuid", "accelerator", "topology"):
        by_lane.setdefault(lane, []).append(tuple(about))
    return by_lane


def _broken_nodes(kinds: set[str]) -> set[tuple[int, str]]:
    """Nodes of which some lanes of a kind are held, with that kind."""
    held = Lane.objects.filter(kind__in=kinds).exclude(held_since=None).order_by()
    return set(held.values_list("node_id", "kind").annotate(Count("pk")).values_list("node_id", "kind"))
