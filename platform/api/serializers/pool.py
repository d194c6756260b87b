"""Nodes, GPUs and lanes of the pool, and the actions of pool admins."""

from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.answers import Answer, contract_field
from api.serializers.bounded import MAX_ID, Labels, Moment, cursor, listed, name_to_find, page_limit
from api.serializers.gpu_tests import GpuTestBody
from fleet.health.upkeep import LANE_ACTIONS, MAX_REASON_CHARS, PoolAction
from fleet.health_rules import Health
from fleet.models import LaneKind, StateChange
from fleet.pools.annotate import MAX_NOTES_CHARS, MAX_PRICE
from fleet.states.standing import PoolState
from runs.operation_ids import OperationKind, operation_id
from runs.pool.pool_view import GpuRow, NodeRow
from worker.contracts.device_names import MAX_GPUS_PER_LANE
from worker.contracts.node_reports import GpuFaults, GpuIdentity, GpuLive, GpuTopology

LANE_KINDS = [kind.value for kind in LaneKind]
STATES = [state.value for state in PoolState]
HEALTHS = [health.value for health in Health]
POOL_ACTION_KINDS = [action.value for action in PoolAction]
LANE_ACTION_KINDS = [action.value for action in LANE_ACTIONS]
MAX_TARGETS = 1000
"""Most nodes, GPUs or lanes of one call: each takes some milliseconds of one transaction."""


class Annotations(Answer):
    """What pool admins write about a node or a GPU."""

    labels = serializers.DictField(child=serializers.CharField())
    notes = serializers.CharField()
    price_per_gpu_hour = serializers.DecimalField(
        max_digits=10, decimal_places=4, allow_null=True, help_text="Null for a GPU that costs what its node says."
    )


class Standing(Answer):
    """Whether something takes work, and by whose decision it does not."""

    state = serializers.ChoiceField(STATES)
    place = serializers.CharField(help_text="What is decided about: a lane, its GPU or its node.")
    reason = serializers.CharField(help_text="Why it takes no work, or will take none once it is free.")
    changed_by = serializers.CharField(help_text="The user or the part of Tandem that decided so.")
    since = serializers.DateTimeField(allow_null=True, help_text="Since when it takes no work.")
    until = serializers.DateTimeField(
        allow_null=True, help_text="When maintenance ends, or by when what is drained has to be empty."
    )


class StandingOfHeld(Standing):
    """The same of something that a run may hold."""

    state_when_free = serializers.ChoiceField(STATES, help_text="What it is once no run holds it.")


class PoolLane(StandingOfHeld):
    """A lane of the pool, and the run that holds it if you may see that run."""

    id = serializers.IntegerField()
    node = serializers.CharField()
    pool = serializers.CharField(help_text="Name of the pool that it is in.")
    label = serializers.CharField()
    kind = serializers.ChoiceField(LANE_KINDS)
    device = serializers.CharField()
    takes_work = serializers.BooleanField(help_text="Whether it takes new work once it is free.")
    role = serializers.CharField(help_text="Its role in the run that holds it.")
    held_since = serializers.DateTimeField(allow_null=True)
    run_id = serializers.UUIDField(
        allow_null=True, help_text="Id of the run that holds it; also null for a run of another project."
    )
    run_name = serializers.CharField()


class Drained(Answer):
    """What is drained names the operation."""

    operation = serializers.SerializerMethodField(
        help_text="Its drain: `GET /operations/{id}`; null while it is not drained itself."
    )

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_operation(self, row: GpuRow | NodeRow) -> str | None:
        return None if row.drain_id is None else operation_id(OperationKind.DRAIN, row.drain_id)


class PoolGpu(StandingOfHeld, Annotations, Drained):
    """A GPU as its node's agent reported it last."""

    id = serializers.IntegerField()
    node = serializers.CharField()
    uuid = serializers.CharField(help_text="Empty until its driver was asked.")
    index = serializers.IntegerField()
    accelerator = serializers.CharField()
    lane = serializers.CharField(help_text="Label of the lane that it works for; empty if it has none.")
    health = serializers.ChoiceField(HEALTHS, help_text="By what its driver has counted since it was put into service.")
    health_causes = serializers.ListField(child=serializers.CharField(), help_text="What ails it, the worst first.")
    remedy = serializers.CharField(help_text="What its vendor recommends; `none` for nothing.")
    health_since = serializers.DateTimeField()
    slow_factor = serializers.FloatField(
        allow_null=True, help_text="Its seconds of work ÷ the median of its peers'; null unless it is slower than they."
    )
    idle_since = serializers.DateTimeField(
        allow_null=True, help_text="Since when it has done nothing for its run; null while it works or is free."
    )
    longest_idle_seconds = serializers.FloatField(help_text="The longest time that it did nothing for its run.")
    identity = contract_field(GpuIdentity, allow_null=True)
    topology = contract_field(GpuTopology, allow_null=True)
    live = contract_field(GpuLive, allow_null=True)
    faults = contract_field(GpuFaults, allow_null=True)
    reported_at = serializers.DateTimeField(allow_null=True)
    test = GpuTestBody(allow_null=True, help_text="The test that it waits for, or that is under way.")


class PoolNode(Standing, Annotations, Drained):
    """A node with its GPUs and lanes."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    address = serializers.CharField()
    is_drained = serializers.BooleanField(help_text="Whether it is draining and no run is left on it.")
    num_cores = serializers.IntegerField(allow_null=True)
    memory_bytes = serializers.IntegerField(allow_null=True)
    memory_used_bytes = serializers.IntegerField(allow_null=True)
    object_store_bytes = serializers.IntegerField(
        allow_null=True, help_text="What Ray's object store may hold in shared memory."
    )
    shm_free_bytes = serializers.IntegerField(allow_null=True, help_text="What is free of the node's shared memory.")
    spill_free_bytes = serializers.IntegerField(
        allow_null=True, help_text="What is free on the disk that Ray's objects spill to."
    )
    embeddings_room_bytes = serializers.IntegerField(
        allow_null=True, help_text="What embeddings of prompts may take on the node's disk, stored ones included."
    )
    load = serializers.FloatField(allow_null=True)
    in_cluster_at = serializers.DateTimeField(allow_null=True, help_text="When Ray last counted it as alive.")
    reported_at = serializers.DateTimeField(allow_null=True, help_text="When its own agent was last heard.")
    reader_error = serializers.CharField(help_text="Why its GPUs could not be read.")
    gpus_per_lane = serializers.IntegerField(help_text="How many of its GPUs make a lane; held lanes may have others.")
    num_lanes = serializers.IntegerField()
    num_held = serializers.IntegerField()
    gpus = PoolGpu(many=True)
    lanes = PoolLane(many=True)


class PoolFactsBody(Answer):
    """What concerns the pool as a whole."""

    head_address = serializers.CharField(help_text="`host:port` of the cluster's head; empty until it is known.")
    join_command = serializers.CharField(help_text="Run on a machine, it makes that machine a node of the pool.")
    agent_started_at = serializers.DateTimeField(allow_null=True, help_text="When the node agent was started.")
    agent_reported_at = serializers.DateTimeField(allow_null=True, help_text="When it last reported.")
    now = serializers.DateTimeField(help_text="The server's clock.")


class PoolChange(Answer):
    """A change of what takes work, or something lost or found."""

    id = serializers.IntegerField()
    of = serializers.SerializerMethodField(help_text="What it is a change of.")
    gpu_id = serializers.IntegerField(allow_null=True, help_text="The GPU that it is a change of, if it is of one.")
    name = serializers.CharField(help_text="Name of the node, the GPU or the lane.")
    old = serializers.CharField()
    new = serializers.CharField(help_text="A state, `lost`, or `found` where it has come back.")
    reason = serializers.CharField()
    by = serializers.CharField(help_text="The user or the part of Tandem that decided so.")
    at = serializers.DateTimeField()

    @extend_schema_field(serializers.ChoiceField(["node", "gpu", "lane"]))
    def get_of(self, change: StateChange) -> str:
        return "gpu" if change.gpu_id else "lane" if change.lane_id else "node"


class NodesQuery(serializers.Serializer[Any]):
    ids = listed(
        required=False, help_text="Only these nodes, by id, separated by commas. Ids that name nothing are left out."
    )

    def validate_ids(self, value: str) -> list[int]:
        parts = value.split(",")
        if not all(part.isascii() and part.isdigit() and int(part) <= MAX_ID for part in parts):
            raise serializers.ValidationError(f"`ids` must be numbers separated by commas, got {value!r}")
        return [int(part) for part in parts]


class HistoryQuery(serializers.Serializer[Any]):
    cursor = cursor()
    limit = page_limit("Changes")


class LanesQuery(serializers.Serializer[Any]):
    node = name_to_find(required=False)
    pool = name_to_find(required=False)
    kind = serializers.ChoiceField(LANE_KINDS, required=False)
    state = serializers.ChoiceField(STATES, required=False)


class GpusQuery(serializers.Serializer[Any]):
    node = name_to_find(required=False)
    accelerator = name_to_find(required=False)
    state = serializers.ChoiceField(STATES, required=False)


class NodeAction(serializers.Serializer[Any]):
    action = serializers.ChoiceField(POOL_ACTION_KINDS)
    reason = serializers.CharField(
        default="", allow_blank=True, max_length=MAX_REASON_CHARS, help_text="Required except for resume."
    )
    until = Moment(
        required=False,
        allow_null=True,
        default=None,
        help_text="When maintenance ends by itself, or by when what is drained has to be empty.",
    )


def _targets(**options: Any) -> serializers.ListField:
    """A list of ids, by default empty."""
    one = serializers.IntegerField(min_value=1, max_value=MAX_ID)
    return serializers.ListField(child=one, max_length=MAX_TARGETS, default=list, **options)


class PoolActions(NodeAction):
    """One action on several nodes, GPUs and lanes."""

    nodes = _targets()
    gpus = _targets()
    lanes = _targets(help_text="Lanes are cordoned and resumed; only nodes and GPUs are drained.")


class LaneAction(NodeAction):
    action = serializers.ChoiceField(LANE_ACTION_KINDS)


class AnnotationsToWrite(serializers.Serializer[Any]):
    """What is left out stays as it is."""

    labels = Labels(required=False, help_text="All labels; those not named go.")
    notes = serializers.CharField(required=False, allow_blank=True, max_length=MAX_NOTES_CHARS)
    price_per_gpu_hour = serializers.DecimalField(
        max_digits=10,
        decimal_places=4,
        min_value=Decimal(0),
        max_value=MAX_PRICE,
        required=False,
        allow_null=True,
        help_text="Null takes the price away.",
    )


class NodeToWrite(AnnotationsToWrite):
    """What is left out stays as it is."""

    gpus_per_lane = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_GPUS_PER_LANE,
        help_text="How many of its GPUs make a lane, linked ones together. Held lanes change once they are free.",
    )
