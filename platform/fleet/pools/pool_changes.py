"""What open pool pages are told: live values with every report, and which nodes are to be read again.

    reports              ─► values of nodes and GPUs ─┐
    allocations, states  ─► ids of nodes ─────────────┴─► one frame for all sockets, on commit
    sockets' poll        ─► `digests` ─► ids of nodes that have changed in a way that nothing told

Invariant: a frame names no run, because all users get the same one; who holds a lane is read over REST, which answers
as `runs.pool.pool_view` allows each user.
"""

from collections.abc import Collection, Iterable
from datetime import datetime

from django.contrib.postgres.aggregates import StringAgg
from django.db.models import F, Func, Model, TextField, Value

from fleet.models import Gpu, Lane, Node
from live.publish import publish_pool

_DECISION = ("state", "reason", "changed_by", "state_until")
_WRITTEN = ("labels", "notes", "price_per_gpu_hour")
_SHOWN: dict[type[Model], tuple[str, ...]] = {
    Node: (
        *(*_DECISION, *_WRITTEN, "name", "address", "num_cores", "reader_error"),
        *("are_gpus_held", "gpus_per_lane", "lost_since"),
    ),
    Gpu: (
        *(*_DECISION, *_WRITTEN, "uuid", "accelerator", "lane_id", "lost_since"),
        *("identity", "topology", "faults", "health", "health_causes", "remedy"),
    ),
    Lane: (*_DECISION, "label", "pool_id", "run_id", "preview_id", "role"),
}
"""The columns that the page shows and that no report carries to it."""


def publish_holders(node_ids: Iterable[int]) -> None:
    """Tell that lanes of these nodes have other holders or roles, that something there takes work or takes none, or
    that a test there has come further."""
    if changed := sorted(set(node_ids)):
        publish_pool(changed=changed)


def publish_reports(alive: Iterable[Node], reported: Collection[Node], gpus: Iterable[Gpu], *, at: datetime) -> None:
    """Tell the live values of a post: the nodes that Ray counts as alive, those that reported, and their GPUs."""
    publish_pool(
        at=at.timestamp(),
        alive=[node.pk for node in alive],
        nodes={node.pk: {"load": node.load, "memory_used_bytes": node.memory_used_bytes} for node in reported},
        gpus={gpu.pk: gpu.live for gpu in gpus},
    )


def digests() -> dict[int, tuple[str, ...]]:
    """By node: a digest of each table's columns that the page shows; another one means that the node is to be read
    again."""
    found: dict[int, tuple[str, ...]] = {}
    for model, columns in _SHOWN.items():
        node = "pk" if model is Node else "node_id"
        row = Func(Value("|"), *map(F, columns), function="CONCAT_WS", output_field=TextField())
        whole = Func(StringAgg(row, Value("\n"), order_by="pk"), function="MD5", output_field=TextField())
        rows = model._default_manager.order_by().values_list(node).annotate(digest=whole)
        for node_id, digest in rows:
            found[node_id] = (*found.get(node_id, ()), digest)
    return found
