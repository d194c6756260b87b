"""Usage of the pool."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer
from runs.lane_usage import UsageBy


class UsageQuery(serializers.Serializer[Any]):
    since = serializers.DateTimeField(help_text="Begin of the window.")
    until = serializers.DateTimeField(help_text="End of the window, not included.")
    by = serializers.ChoiceField([by.value for by in UsageBy], default=UsageBy.PROJECT.value)


class UsageRow(Answer):
    """What one project, user, card, … used inside the window."""

    key = serializers.CharField(help_text="Id of what was summed over; empty where it was deleted.")
    name = serializers.CharField()
    lane_hours = serializers.FloatField(help_text="Hours of all lanes, CPU lanes too.")
    gpu_hours = serializers.FloatField()
    cost = serializers.DecimalField(
        max_digits=20,
        decimal_places=4,
        allow_null=True,
        help_text="At the prices that the GPUs had when they were allocated; null where none had one.",
    )
    num_runs = serializers.IntegerField()
