"""The pools: which lanes are in them, who works there, and who waits."""

from rest_framework import serializers

from api.serializers.answers import Answer
from api.serializers.pool import LANE_KINDS, STATES


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
