"""Usage of the pool."""

from typing import Any

from rest_framework import serializers

from api.serializers.answers import Answer
from api.serializers.bounded import Moment
from runs.pool.lane_usage import UsageBy


class UsageQuery(serializers.Serializer[Any]):
    since = Moment(help_text="Begin of the window.")
    until = Moment(help_text="End of the window, not included.")
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
    unpriced_gpu_hours = serializers.FloatField(help_text="GPU hours without a price, which the cost leaves out.")


class DailyUsageRow(Answer):
    """What one project, user, card, … used each day."""

    key = serializers.CharField(help_text="Id of what was summed over; empty for several together.")
    name = serializers.CharField()
    lane_hours = serializers.ListField(child=serializers.FloatField())
    gpu_hours = serializers.ListField(child=serializers.FloatField())
    cost = serializers.ListField(child=serializers.FloatField(), help_text="0 where the GPUs had no price.")


class DailyUsageBody(Answer):
    """The usage of each day in a window."""

    days = serializers.ListField(child=serializers.DateField(), help_text="Days of UTC.")
    rows = DailyUsageRow(many=True, help_text="Most GPU hours first; what is too small to be told apart comes last.")
