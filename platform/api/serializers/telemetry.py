"""Curves, timeline, bubbles, events and logs: the parameters of their calls."""

from typing import Any

from rest_framework import serializers

from telemetry.curves import MAX_POINTS
from telemetry.lending_ledger import DEFAULT_DECISIONS, MAX_DECISIONS
from telemetry.selectors import LOG_LEVELS
from telemetry.timeline import DEFAULT_SPANS, MAX_SPANS

MAX_ITEMS = 1000


def parts(text: str) -> tuple[str, ...]:
    """`a,b` → ("a", "b")."""
    return tuple(part for part in text.split(",") if part)


class MetricsQuery(serializers.Serializer[Any]):
    keys = serializers.CharField(default="", help_text="Metric names, by comma. Default: all.")
    max_points = serializers.IntegerField(default=500, min_value=2, max_value=MAX_POINTS)


class WindowQuery(serializers.Serializer[Any]):
    to = serializers.FloatField(required=False, help_text="Unix seconds. Default: the newest span.")

    def get_fields(self) -> dict[str, Any]:
        # `from` is a word of Python's, so it cannot be written as an attribute.
        start = serializers.FloatField(required=False, help_text="Unix seconds. Default: the first span.")
        return {"from": start, **super().get_fields()}


class TimelineQuery(WindowQuery):
    limit = serializers.IntegerField(default=DEFAULT_SPANS, min_value=100, max_value=MAX_SPANS)


class LendingQuery(serializers.Serializer[Any]):
    limit = serializers.IntegerField(default=DEFAULT_DECISIONS, min_value=1, max_value=MAX_DECISIONS)


class EventsQuery(serializers.Serializer[Any]):
    after_seq = serializers.IntegerField(required=False, min_value=0, help_text="Oldest first from here.")
    before_seq = serializers.IntegerField(required=False, min_value=1, help_text="The newest below this.")
    types = serializers.CharField(
        default="",
        help_text="By comma, or `all`. Default: all but those that come in bulk (metrics, spans, lend, log, …).",
    )
    limit = serializers.IntegerField(default=500, min_value=1, max_value=MAX_ITEMS)


class LogsQuery(serializers.Serializer[Any]):
    level = serializers.ChoiceField(LOG_LEVELS, default="", help_text="This severe or more.")
    source = serializers.CharField(default="", help_text="A lane, or `driver`.")
    search = serializers.CharField(default="", help_text="Part of the message.")
    before_seq = serializers.IntegerField(required=False, min_value=1)
    limit = serializers.IntegerField(default=200, min_value=1, max_value=MAX_ITEMS)
