"""The pool as a user may see it: every node with its GPUs and lanes, and the runs that hold them if the user may see
those."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.access import Actor
from fleet.models import Gpu, GpuTest, Lane, Node
from fleet.selectors import head_address, newest_agent, nodes_with_lanes, open_tests
from fleet.states.drain_history import Drains, newest_drains
from fleet.states.standing import PoolState, Standing, of_gpu, of_lane, of_node
from runs.selectors import visible_runs

SOMEBODY_ELSES = "a run of another project"


@dataclass(frozen=True, slots=True)
class GpuRow:
    id: int
    node: str
    uuid: str
    index: int
    accelerator: str
    lane: str
    """The label of its lane; empty if it has none."""
    state: PoolState
    """`allocated` for a GPU whose lane is held, unless it is lost."""
    state_when_free: PoolState
    """What it is once no run holds it."""
    place: str
    """The node or GPU that is decided about; empty while it takes work."""
    reason: str
    changed_by: str
    since: datetime | None
    until: datetime | None
    health: str
    """A `Health`; it is judged by what the driver has counted since the GPU was last put into service."""
    health_causes: tuple[str, ...]
    """What ails it, the worst first."""
    remedy: str
    health_since: datetime
    slow_factor: float | None
    """Its seconds of work ÷ the median of its peers'; `None` unless it is slower than they are."""
    idle_since: datetime | None
    """Since when it has done nothing for the run that holds it; `None` while it works or is free."""
    longest_idle_seconds: float
    """The longest time that it did nothing for that run."""
    labels: Mapping[str, str]
    notes: str
    price_per_gpu_hour: Decimal | None
    """Its own; `None` where it costs what its node says."""
    identity: Mapping[str, Any] | None
    """`GpuIdentity` as plain JSON, and likewise the next three; `None` before the first report."""
    topology: Mapping[str, Any] | None
    live: Mapping[str, Any] | None
    faults: Mapping[str, Any] | None
    reported_at: datetime | None
    test: GpuTest | None
    """The test that it waits for or that is under way."""
    drain_id: int | None
    """The `StateChange` by which it is drained itself; `None` while it is not."""


@dataclass(frozen=True, slots=True)
class LaneRow:
    id: int
    node: str
    pool: str
    """Name of the pool that it is in."""
    label: str
    kind: str
    device: str
    state: PoolState
    """`allocated` for a lane that is held, whatever becomes of it afterwards."""
    state_when_free: PoolState
    takes_work: bool
    place: str
    reason: str
    """Why it takes no work, or will take none once it is free."""
    changed_by: str
    since: datetime | None
    until: datetime | None
    role: str
    held_since: datetime | None
    run_id: UUID | None
    """The run that holds it; empty for a free lane, and for a run of a project that is not the user's."""
    run_name: str


@dataclass(frozen=True, slots=True)
class NodeRow:
    id: int
    name: str
    address: str
    state: PoolState
    """Never `allocated`: its lanes are."""
    place: str
    reason: str
    changed_by: str
    since: datetime | None
    until: datetime | None
    num_cores: int | None
    memory_bytes: int | None
    memory_used_bytes: int | None
    object_store_bytes: int | None
    shm_free_bytes: int | None
    spill_free_bytes: int | None
    embeddings_room_bytes: int | None
    load: float | None
    in_cluster_at: datetime | None
    reported_at: datetime | None
    reader_error: str
    gpus_per_lane: int
    labels: Mapping[str, str]
    notes: str
    price_per_gpu_hour: Decimal | None
    drain_id: int | None
    """The `StateChange` by which it is drained; `None` while it is not."""
    gpus: tuple[GpuRow, ...]
    lanes: tuple[LaneRow, ...]

    @property
    def num_held(self) -> int:
        return sum(lane.state is PoolState.ALLOCATED for lane in self.lanes)

    @property
    def num_lanes(self) -> int:
        return len(self.lanes)

    @property
    def is_drained(self) -> bool:
        """Whether the node is draining and no lane of it is held any more."""
        return self.state is PoolState.DRAINING and not self.num_held


def pool_rows(user: Actor, ids: Collection[int] | None = None) -> list[NodeRow]:
    """Every node, or those of `ids`, with its GPUs and lanes, in the pool's order."""
    nodes = list(nodes_with_lanes(ids))
    run_ids = {lane.run_id for node in nodes for lane in node.lanes.all() if lane.run_id}
    names = dict(visible_runs(user).filter(pk__in=run_ids).values_list("pk", "name"))
    tests = {test.gpu_id: test for test in open_tests([node.pk for node in nodes])}
    drains = newest_drains(nodes)
    return [_node_row(node, names, tests, drains) for node in nodes]


def node_row(user: Actor, node_id: int) -> NodeRow | None:
    return next(iter(pool_rows(user, [node_id])), None)


def gpu_row(user: Actor, gpu_id: int) -> GpuRow | None:
    home = Gpu.objects.filter(pk=gpu_id).values_list("node", flat=True)
    return next((gpu for row in pool_rows(user, home) for gpu in row.gpus if gpu.id == gpu_id), None)


def lane_row(user: Actor, lane_id: int) -> LaneRow | None:
    home = Lane.objects.filter(pk=lane_id).values_list("node", flat=True)
    return next((lane for row in pool_rows(user, home) for lane in row.lanes if lane.id == lane_id), None)


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """What concerns the pool as a whole."""

    head_address: str
    """`host:port` of the cluster's head; empty until an agent has reported it."""
    join_command: str
    """By which a machine becomes a node; with a placeholder while the head's address is not known."""
    agent_started_at: datetime | None
    agent_reported_at: datetime | None
    now: datetime


def pool_facts() -> PoolFacts:
    agent, head = newest_agent(), head_address()
    return PoolFacts(
        head_address=head,
        join_command=f"python -m worker.node join {head or 'HEAD:PORT'}",
        agent_started_at=None if agent is None else agent.created_at,
        agent_reported_at=None if agent is None else agent.reported_at,
        now=timezone.now(),
    )


def _node_row(node: Node, names: Mapping[UUID, str], tests: Mapping[int, GpuTest], drains: Drains) -> NodeRow:
    standing = of_node(node)
    return NodeRow(
        id=node.pk,
        name=node.name,
        address=node.address,
        state=standing.state,
        place=standing.place,
        reason=standing.reason,
        changed_by=standing.changed_by,
        since=standing.since,
        until=standing.until,
        num_cores=node.num_cores,
        memory_bytes=node.memory_bytes,
        memory_used_bytes=node.memory_used_bytes,
        object_store_bytes=node.object_store_bytes,
        shm_free_bytes=node.shm_free_bytes,
        spill_free_bytes=node.spill_free_bytes,
        embeddings_room_bytes=node.embeddings_room_bytes,
        load=node.load,
        in_cluster_at=node.in_cluster_at,
        reported_at=node.reported_at,
        reader_error=node.reader_error,
        gpus_per_lane=node.gpus_per_lane,
        labels=node.labels,
        notes=node.notes,
        price_per_gpu_hour=node.price_per_gpu_hour,
        drain_id=drains.of_nodes.get(node.pk),
        gpus=tuple(_gpu_row(gpu, node, tests.get(gpu.pk), drains.of_gpus.get(gpu.pk)) for gpu in node.gpus.all()),
        lanes=tuple(_lane_row(lane, node, names) for lane in node.lanes.all()),
    )


def _gpu_row(gpu: Gpu, node: Node, test: GpuTest | None, drain_id: int | None) -> GpuRow:
    standing = of_gpu(gpu)
    lane = next((lane for lane in node.lanes.all() if lane.pk == gpu.lane_id), None)
    return GpuRow(
        id=gpu.pk,
        node=node.name,
        uuid=gpu.uuid,
        index=gpu.index,
        accelerator=gpu.accelerator,
        lane="" if lane is None else lane.label,
        state=_shown(standing, lane),
        state_when_free=standing.state,
        place=standing.place,
        reason=standing.reason,
        changed_by=standing.changed_by,
        since=standing.since,
        until=standing.until,
        health=gpu.health,
        health_causes=tuple(gpu.health_causes),
        remedy=gpu.remedy,
        health_since=gpu.health_since,
        slow_factor=gpu.slow_factor,
        idle_since=gpu.idle_since,
        longest_idle_seconds=gpu.longest_idle_seconds,
        labels=gpu.labels,
        notes=gpu.notes,
        price_per_gpu_hour=gpu.price_per_gpu_hour,
        identity=gpu.identity or None,
        topology=gpu.topology or None,
        live=gpu.live or None,
        faults=gpu.faults or None,
        reported_at=gpu.reported_at,
        test=test,
        drain_id=drain_id,
    )


def _lane_row(lane: Lane, node: Node, names: Mapping[UUID, str]) -> LaneRow:
    standing = of_lane(lane)
    return LaneRow(
        id=lane.pk,
        node=node.name,
        pool=lane.pool_id,
        label=lane.label,
        kind=lane.kind,
        device=lane.device,
        state=_shown(standing, lane),
        state_when_free=standing.state,
        takes_work=standing.takes_work,
        place=standing.place,
        reason=standing.reason,
        changed_by=standing.changed_by,
        since=standing.since,
        until=standing.until,
        role="preview" if lane.preview_id else "test" if lane.test_id else lane.role,
        held_since=lane.held_since,
        run_id=lane.run_id if lane.run_id in names else None,
        run_name=names.get(lane.run_id, SOMEBODY_ELSES) if lane.run_id else "",
    )


def _shown(standing: Standing, lane: Lane | None) -> PoolState:
    # A test takes the lane of a GPU that is out of service, which is what matters of it, and one in service for a peer.
    is_held = lane is not None and (lane.run_id is not None or (lane.test_id is not None and standing.takes_work))
    return PoolState.ALLOCATED if is_held and standing.state is not PoolState.LOST else standing.state
