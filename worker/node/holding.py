"""Holds the GPUs of Ray nodes that others started, so that Ray gives them to nobody else.

Tandem's lanes ask Ray for no GPU: they are placed on their node and see their GPUs by UUID. On a node that Tandem
started Ray has no GPUs to give. On any other, one placement group takes all of them. It is detached, so that it lives
on while an agent is replaced, and named after the node's Ray id, since a node that comes back has another.
"""

import logging
from collections.abc import Collection, Mapping
from typing import Any

from ray.util import placement_group, placement_group_table, remove_placement_group
from ray.util.placement_group import PlacementGroup, get_placement_group

from worker.contracts.lanes import NODE_ID_LABEL

logger = logging.getLogger(__name__)

PREFIX = "tandem-gpus-"
"""Of the groups' names; the node's Ray id follows."""
GPU = "GPU"
"""Ray's resource."""


class GpuHolder:
    """The placement groups that hold GPUs, one a node."""

    def __init__(self) -> None:
        self._groups: dict[str, PlacementGroup] = {}

    def follow(self, nodes: Collection[Mapping[str, Any]]) -> None:
        """Hold the GPUs of these nodes, entries of `ray.nodes()`, and let go of those of all others.

        A group that Ray cannot place yet, since another program uses some of the GPUs, waits: Ray places it as soon as
        they are free.
        """
        for node in nodes:
            number = node["Resources"].get(GPU, 0.0)
            if number and node["NodeID"] not in self._groups:
                self._groups[node["NodeID"]] = _group(node["NodeID"], number)
        alive = {node["NodeID"] for node in nodes}
        for gone in self._groups.keys() - alive:
            remove_placement_group(self._groups.pop(gone))

    def take_over(self, alive: Collection[str]) -> None:
        """Remove the groups of nodes that were gone before this process began."""
        for entry in placement_group_table().values():
            node = entry["name"].removeprefix(PREFIX)
            if entry["name"].startswith(PREFIX) and entry["state"] != "REMOVED" and node not in alive:
                logger.info("node %s is gone: its GPUs are let go of", node)
                remove_placement_group(get_placement_group(entry["name"]))

    def is_held(self, node_id: str) -> bool:
        """Whether Ray has given Tandem all GPUs of the node; true for a node that has none to give."""
        group = self._groups.get(node_id)
        if group is None:
            return True
        return bool(placement_group_table(group)["state"] == "CREATED")


def _group(node_id: str, number: float) -> PlacementGroup:
    """The group of the node; that of an earlier agent if there is one."""
    name = f"{PREFIX}{node_id}"
    try:
        return get_placement_group(name)
    except ValueError:
        where = [{NODE_ID_LABEL: node_id}]
        return placement_group(
            [{GPU: number}], strategy="PACK", name=name, lifetime="detached", bundle_label_selector=where
        )
