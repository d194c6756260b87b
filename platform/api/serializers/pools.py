"""The pools: which lanes are in them, who works there, and who waits."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer
from api.serializers.bounded import MAX_ID, Labels
from api.serializers.pool import LANE_KINDS, MAX_TARGETS, STATES
from fleet.models.pools import LAST
from fleet.pools.pool_services import MAX_DESCRIPTION_CHARS
from worker.contracts.lanes import MAX_POOL_NAME_CHARS


class LaneCount(Answer):
    """Lanes of a pool that are alike."""

    kind = serializers.ChoiceField(LANE_KINDS)
    device = serializers.CharField(help_text="Their accelerator, or `cpu`.")
    state = serializers.ChoiceField(STATES)
    number = serializers.IntegerField()


class HoldingRun(Answer):
    """A run that holds lanes of a pool."""

    run_id = serializers.UUIDField()
    run_name = serializers.CharField()
    num_lanes = serializers.IntegerField()


class Pool(Answer):
    """Lanes with a queue, shares and a policy of their own."""

    name = serializers.CharField()
    description = serializers.CharField()
    match_labels = serializers.DictField(
        child=serializers.CharField(),
        help_text="Labels that a lane must have; empty for `default`, with the rest.",
    )
    order = serializers.IntegerField(help_text="Of several pools that match a lane, the one with the lowest has it.")
    half_life_hours = serializers.FloatField(help_text="After which use counts half in fair share.")
    num_lanes = serializers.IntegerField()
    lanes = LaneCount(many=True)
    runs = HoldingRun(many=True, help_text="Runs that hold its lanes and that you may see.")
    num_waiting = serializers.IntegerField()
    kept_out = serializers.ListField(
        child=serializers.UUIDField(), help_text="Projects of yours that may hold no lane of it."
    )


class PoolToChange(serializers.Serializer[Any]):
    """What is left out stays as it is."""

    description = serializers.CharField(required=False, allow_blank=True, max_length=MAX_DESCRIPTION_CHARS)
    match_labels = Labels(required=False, help_text="Labels that a lane must have, all of them.")
    order = serializers.IntegerField(
        required=False, min_value=0, max_value=LAST - 1, help_text="Of pools that match a lane, the lowest has it."
    )


class NewPool(PoolToChange):
    name = serializers.CharField(
        max_length=MAX_POOL_NAME_CHARS, help_text="Small letters, digits and `-`; it cannot be changed."
    )
    match_labels = Labels(help_text="Labels that a lane must have, all of them.")


class LabelsToTry(serializers.Serializer[Any]):
    id = serializers.IntegerField(min_value=1, max_value=MAX_ID)
    labels = Labels(help_text="All labels.")


class PoolsToTry(serializers.Serializer[Any]):
    """Changes that are not made."""

    nodes = LabelsToTry(many=True, default=list, max_length=MAX_TARGETS)
    gpus = LabelsToTry(many=True, default=list, max_length=MAX_TARGETS)
    pool = NewPool(required=False, allow_null=True, default=None, help_text="A new pool, or a changed one.")


class LaneMove(Answer):
    """A lane that would change its pool."""

    lane = serializers.CharField(help_text="Its label.")
    old = serializers.CharField()
    new = serializers.CharField()
    is_held = serializers.BooleanField(help_text="Whether somebody holds it, who keeps it.")
