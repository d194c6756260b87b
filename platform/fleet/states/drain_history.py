"""Drains as their history tells them: each began with a change of state, and ended when nothing held its lanes, or when
something else was decided.

Invariant: nothing of it is stored. A drain is a `StateChange` to `draining` of a node or GPU; whether its lanes were
free by then follows from who used them.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BooleanField, Case, DateTimeField, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce, Greatest, Now

from fleet.models import Lane, LaneUse, Node, ServiceState, StateChange
from fleet.models.service_states import FOUND, LOST


@dataclass(frozen=True, slots=True)
class Drains:
    """The `StateChange` by which what is draining now was told to, by id."""

    of_nodes: dict[int, int] = field(default_factory=dict)
    of_gpus: dict[int, int] = field(default_factory=dict)


def newest_drains(nodes: Iterable[Node]) -> Drains:
    """Of nodes that were read with their GPUs."""
    nodes = list(nodes)
    draining = {node.pk for node in nodes if node.state == ServiceState.DRAINING}
    gpus = {gpu.pk for node in nodes for gpu in node.gpus.all() if gpu.state == ServiceState.DRAINING}
    wanted = Q(node__in=draining, gpu=None, lane=None) | Q(gpu__in=gpus)
    rows = StateChange.objects.filter(wanted, new=ServiceState.DRAINING).order_by()
    found = Drains()
    for node, gpu, change in rows.values_list("node", "gpu").annotate(Max("pk")):
        if gpu is not None:
            found.of_gpus[gpu] = change
        elif node is not None:
            found.of_nodes[node] = change
    return found


def drain_changes() -> QuerySet[StateChange]:
    """Every drain of a node or GPU that the pool still has, with

    - `left_at`: when something else was decided about it; null while it is draining,
    - `is_held`: whether a lane of it was held at that time, or is now,
    - `emptied_at`: when the last of its lanes was released, or nothing held one; null where `is_held`.
    """
    rows = StateChange.objects.filter(new=ServiceState.DRAINING, node__isnull=False, lane=None)
    rows = rows.annotate(left_at=_left_at()).annotate(seen_at=Coalesce("left_at", Now()))
    rows = rows.annotate(is_held=_of_uses(_is_held, BooleanField()), freed_at=_of_uses(_freed_at, DateTimeField()))
    emptied = When(is_held=False, then=Greatest(Coalesce("freed_at", "at"), F("at")))
    return rows.annotate(emptied_at=Case(emptied, output_field=DateTimeField()))


def lanes_of(nodes: Collection[int], gpus: Collection[int]) -> list[tuple[int, int, int | None, bool]]:
    """`(lane, node, GPU, whether it is held)` of these nodes and GPUs; a lane of several GPUs has as many rows."""
    lanes = Lane.objects.filter(Q(node__in=nodes) | Q(gpus__in=gpus)).order_by()
    rows = lanes.values_list("pk", "node", "gpus", "held_since")
    return [(lane, node, gpu, since is not None) for lane, node, gpu, since in rows]


def _left_at() -> Case:
    """When the node or GPU got another state; that it is lost, or found again, is none."""
    after = StateChange.objects.filter(pk__gt=OuterRef("pk")).exclude(new__in=(LOST, FOUND)).order_by("pk")
    of_node = after.filter(node=OuterRef("node"), gpu=None, lane=None)
    of_gpu = after.filter(gpu=OuterRef("gpu"))
    is_node = When(gpu__isnull=True, then=Subquery(of_node.values("at")[:1]))
    return Case(is_node, default=Subquery(of_gpu.values("at")[:1]))


def _of_uses(read: Callable[[QuerySet[LaneUse]], Any], output: Any) -> Case:
    """What `read` says of the uses of a node's lanes, or of a GPU's, that began before the drain was over."""
    uses = LaneUse.objects.filter(since__lt=OuterRef("seen_at")).order_by()
    of_node, of_gpu = uses.filter(lane__node=OuterRef("node")), uses.filter(lane__gpus=OuterRef("gpu"))
    return Case(When(gpu__isnull=True, then=read(of_node)), default=read(of_gpu), output_field=output)


def _is_held(uses: QuerySet[LaneUse]) -> Exists:
    return Exists(uses.filter(Q(until=None) | Q(until__gt=OuterRef("seen_at"))))


def _freed_at(uses: QuerySet[LaneUse]) -> Subquery:
    ended = uses.filter(until__gt=OuterRef("at"), until__lte=OuterRef("seen_at"))
    return Subquery(ended.order_by("-until").values("until")[:1])
