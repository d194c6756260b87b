"""Nodes and lanes of the pool, and the actions of pool admins."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer
from fleet.models import LaneKind, NodeState
from fleet.upkeep import LANE_ACTIONS, MAX_REASON_CHARS, PoolAction


class PoolLane(Answer):
    """A lane of the pool, and the run that holds it if you may see that run."""

    id = serializers.IntegerField()
    node = serializers.CharField()
    label = serializers.CharField()
    kind = serializers.ChoiceField(LaneKind.values)
    device = serializers.CharField()
    state = serializers.ChoiceField(["free", "held", "cordoned"])
    cordoned = serializers.BooleanField(help_text="Whether it takes no new work.")
    reason = serializers.CharField(help_text="Why it is cordoned.")
    cordoned_by = serializers.CharField(help_text="Who cordoned it.")
    role = serializers.CharField(help_text="Its role in the run that holds it.")
    held_since = serializers.DateTimeField(allow_null=True)
    run_id = serializers.UUIDField(
        allow_null=True, help_text="Id of the run that holds it; also null for a run of another project."
    )
    run_name = serializers.CharField()


class PoolNode(Answer):
    """A node with its lanes."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.ChoiceField(NodeState.values)
    is_drained = serializers.BooleanField(help_text="Whether it is draining and no run is left on it.")
    reason = serializers.CharField(help_text="Why it takes no new work.")
    cordoned_by = serializers.CharField()
    num_lanes = serializers.IntegerField()
    num_held = serializers.IntegerField()
    lanes = PoolLane(many=True)


class LanesQuery(serializers.Serializer[Any]):
    node = serializers.CharField(required=False)
    kind = serializers.ChoiceField(LaneKind.values, required=False)
    state = serializers.ChoiceField(["free", "held", "cordoned"], required=False)


class NodeAction(serializers.Serializer[Any]):
    action = serializers.ChoiceField([action.value for action in PoolAction])
    reason = serializers.CharField(
        default="", allow_blank=True, max_length=MAX_REASON_CHARS, help_text="Required except for resume."
    )


class LaneAction(NodeAction):
    action = serializers.ChoiceField([action.value for action in LANE_ACTIONS])
