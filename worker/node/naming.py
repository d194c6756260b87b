"""Names of nodes in the pool."""

import re
from collections.abc import Collection, Mapping
from itertools import count
from typing import Any

from worker.contracts.node_reports import NODE_LABEL

MAX_NAME_CHARS = 100


class NodeNames:
    """The name in the pool by Ray's id of a node.

    A node that Tandem started names itself by a label; any other is called after its host: Ray gives a node that comes
    back another id, and its host stays. Where two nodes would be called alike, the later one gets a number.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        """`known`: the names that the web knows."""
        self._known = known
        self._given: dict[str, str] = {}

    def of(self, node: Mapping[str, Any], alive: Collection[str]) -> str:
        """The name of an entry of `ray.nodes()`; `alive` are the ids of all nodes that are."""
        node_id: str = node["NodeID"]
        if node_id not in self._given:
            taken = {name for other, name in self._given.items() if other in alive}
            wanted = node["Labels"].get(NODE_LABEL) or self._known.get(node_id) or node["NodeManagerHostname"]
            self._given[node_id] = host_name(wanted, taken)
        return self._given[node_id]


def host_name(host: str, taken: Collection[str]) -> str:
    """The host's name without its domain, in letters, digits, hyphens and underscores; with a number behind it where
    another node is called so."""
    base = re.sub(r"[^a-zA-Z0-9_-]+", "-", host.split(".")[0]).strip("-_")[: MAX_NAME_CHARS - 5] or "node"
    candidates = (base if number == 1 else f"{base}-{number}" for number in count(1))
    return next(name for name in candidates if name not in taken)
