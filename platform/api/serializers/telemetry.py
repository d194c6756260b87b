"""Curves, timeline, bubbles, events and logs: parameters, and what the schema says of the answers."""

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
        help_text="By comma, or `all`. Default: all but those told in bulk (metrics, spans, lend, log, …).",
    )
    limit = serializers.IntegerField(default=500, min_value=1, max_value=MAX_ITEMS)


class LogsQuery(serializers.Serializer[Any]):
    level = serializers.ChoiceField(LOG_LEVELS, default="", help_text="This severe or more.")
    source = serializers.CharField(default="", help_text="A lane, or `driver`.")
    search = serializers.CharField(default="", help_text="Part of the message.")
    before_seq = serializers.IntegerField(required=False, min_value=1)
    limit = serializers.IntegerField(default=200, min_value=1, max_value=MAX_ITEMS)


class Series(serializers.Serializer[Any]):
    batch = serializers.ListField(child=serializers.IntegerField())
    step = serializers.ListField(child=serializers.IntegerField(), help_text="Optimizer steps.")
    at = serializers.ListField(child=serializers.FloatField(), help_text="Unix seconds.")
    value = serializers.ListField(child=serializers.FloatField())
    min = serializers.ListField(child=serializers.FloatField())
    max = serializers.ListField(child=serializers.FloatField())


class MetricsBody(serializers.Serializer[Any]):
    series = serializers.DictField(child=Series())
    stream_seq = serializers.IntegerField(help_text="Everything up to this number is in; ask the socket for the rest.")


class LaneBody(serializers.Serializer[Any]):
    lane = serializers.CharField()
    role = serializers.CharField()
    node = serializers.CharField()
    device = serializers.CharField()
    pid = serializers.IntegerField()


class VersionBody(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    at = serializers.FloatField()


class QueueBody(serializers.Serializer[Any]):
    at = serializers.FloatField()
    depths = serializers.DictField(child=serializers.IntegerField())


class DecisionBody(serializers.Serializer[Any]):
    """A decision to let trainer lanes generate."""

    decision = serializers.IntegerField()
    attempt = serializers.IntegerField()
    batch = serializers.IntegerField()
    at = serializers.FloatField(help_text="When it was made, in Unix seconds.")
    lanes = serializers.ListField(child=serializers.CharField())
    num_fragments = serializers.IntegerField(help_text="That each lane may generate.")
    predicted_gain_seconds = serializers.FloatField(allow_null=True, help_text="Null where nothing was predicted.")
    settled_at = serializers.FloatField(allow_null=True)
    realised_gain_seconds = serializers.FloatField(allow_null=True, help_text="Null until the open batches ended.")


class LedgerBody(DecisionBody):
    num_generated = serializers.IntegerField(
        help_text="Fragments that its lanes generated; fewer than they all might: the loan was cut short."
    )


class LendingTotals(serializers.Serializer[Any]):
    num_decisions = serializers.IntegerField()
    num_graded = serializers.IntegerField(help_text="Decisions with a prediction that are settled.")
    mean_predicted_gain_seconds = serializers.FloatField(allow_null=True, help_text="Of the graded ones.")
    mean_realised_gain_seconds = serializers.FloatField(allow_null=True, help_text="Of the graded ones.")
    lent_seconds = serializers.FloatField()
    num_lent_fragments = serializers.IntegerField()
    num_lent_samples = serializers.IntegerField()
    switch_seconds = serializers.FloatField()
    num_switches = serializers.IntegerField()


class LendingBody(serializers.Serializer[Any]):
    decisions = LedgerBody(many=True)
    totals = LendingTotals()
    stream_seq = serializers.IntegerField()


class TimelineBody(serializers.Serializer[Any]):
    lanes = LaneBody(many=True)
    spans = serializers.ListField(
        child=serializers.ListField(),
        help_text="[lane index, kind, start, end, cause, batch, group, policy version, num_samples]",
    )
    versions = VersionBody(many=True)
    queues = QueueBody(many=True)
    lends = DecisionBody(many=True)
    stream_seq = serializers.IntegerField()
    now = serializers.FloatField()


class BubblesBody(serializers.Serializer[Any]):
    total_seconds = serializers.FloatField()
    by_lane = serializers.DictField(child=serializers.DictField(child=serializers.FloatField()))
    by_role = serializers.DictField(child=serializers.DictField(child=serializers.FloatField()))
    by_class = serializers.DictField(child=serializers.FloatField(), help_text="Span kinds, and `idle:<cause>`.")
    stream_seq = serializers.IntegerField()


class StalenessBody(serializers.Serializer[Any]):
    batch = serializers.IntegerField()
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Samples by staleness.")


class ItemBody(serializers.Serializer[Any]):
    stream_seq = serializers.IntegerField()
    type = serializers.CharField()
    at = serializers.FloatField(help_text="Unix seconds.")
    attempt = serializers.IntegerField()
    body = serializers.JSONField()
