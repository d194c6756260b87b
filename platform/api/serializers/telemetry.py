"""The query parameters of curves, timeline, lane states, bubbles, lending, staleness, events and logs."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from api.serializers.bounded import MAX_ID, listed, name_to_find, unix_seconds, words_to_find
from telemetry.curves.curves import DEFAULT_POINTS, LAST_STEP, MAX_POINTS
from telemetry.curves.staleness_columns import LAST_BATCH, MAX_COLUMNS
from telemetry.lending.lending_ledger import DEFAULT_DECISIONS, MAX_DECISIONS
from telemetry.log.run_log_reads import LEVELS
from telemetry.prompts.prompt_audit import PromptOrder
from telemetry.timeline.lane_states import DEFAULT_BUCKETS, MAX_BUCKETS
from telemetry.timeline.timeline import DEFAULT_SPANS, MAX_SPANS
from worker.contracts.base import MAX_INTEGER
from worker.contracts.metric_names import Metric
from worker.contracts.shown_values import shown

MAX_ITEMS = 1000
MAX_PROMPT_OFFSET = 1_000_000
"""Ten times the most prompts of a set."""


def parts(text: str) -> tuple[str, ...]:
    """`a,b` → ("a", "b")."""
    return tuple(part for part in text.split(",") if part)


class MetricsQuery(serializers.Serializer[Any]):
    keys = listed(default="", help_text="Metric names, separated by commas. Default: all.")
    max_points = serializers.IntegerField(
        required=False,
        min_value=2,
        max_value=MAX_POINTS,
        help_text=f"Most points of a curve. Default: {DEFAULT_POINTS}, and all of them as Arrow.",
    )
    from_step = serializers.IntegerField(
        default=0, min_value=0, max_value=LAST_STEP, help_text="First optimizer step of the window."
    )
    to_step = serializers.IntegerField(
        default=LAST_STEP, min_value=0, max_value=LAST_STEP, help_text="Last optimizer step of the window."
    )


MAX_SPARKLINES = 200
"""Most runs whose sparklines one request may ask for: two pages of the runs list."""


class SparklinesQuery(serializers.Serializer[Any]):
    ids = listed(help_text=f"Ids of at most {MAX_SPARKLINES} runs, separated by commas.")
    key = name_to_find(default=Metric.REWARD_MEAN.value, help_text="Name of the metric.")
    max_points = serializers.IntegerField(default=60, min_value=2, max_value=500)

    def validate_ids(self, text: str) -> list[UUID]:
        try:
            ids = [UUID(part) for part in parts(text)]
        except ValueError as error:
            problem = f"`ids` must be ids of runs, separated by commas, got {shown(text)}"
            raise serializers.ValidationError(problem) from error
        if len(ids) > MAX_SPARKLINES:
            problem = f"`ids` must name ≤ {MAX_SPARKLINES} runs, got {len(ids)}: ask in several requests"
            raise serializers.ValidationError(problem)
        return ids


class WindowQuery(serializers.Serializer[Any]):
    to = unix_seconds(
        required=False, help_text="End of the window in Unix seconds. Default: the end of the newest span."
    )

    def get_fields(self) -> dict[str, Any]:
        # `from` is a keyword of Python, so it cannot be written as an attribute.
        start = unix_seconds(
            required=False, help_text="Start of the window in Unix seconds. Default: the start of the first span."
        )
        return {"from": start, **super().get_fields()}


class TimelineQuery(WindowQuery):
    limit = serializers.IntegerField(
        required=False,
        min_value=100,
        max_value=MAX_SPANS,
        help_text=f"About the most spans. Default: {DEFAULT_SPANS}, and all of them as Arrow.",
    )


class LaneStatesQuery(WindowQuery):
    buckets = serializers.IntegerField(default=DEFAULT_BUCKETS, min_value=1, max_value=MAX_BUCKETS)


class LendingQuery(serializers.Serializer[Any]):
    limit = serializers.IntegerField(default=DEFAULT_DECISIONS, min_value=1, max_value=MAX_DECISIONS)


class StalenessQuery(serializers.Serializer[Any]):
    max_columns = serializers.IntegerField(default=500, min_value=1, max_value=MAX_COLUMNS)
    from_batch = serializers.IntegerField(
        default=1, min_value=1, max_value=LAST_BATCH, help_text="First batch of the window, from 1."
    )
    to_batch = serializers.IntegerField(
        default=LAST_BATCH, min_value=1, max_value=LAST_BATCH, help_text="Last batch of the window."
    )


class PromptsQuery(serializers.Serializer[Any]):
    order = serializers.ChoiceField(
        list(PromptOrder), default=PromptOrder.WITHOUT_SPREAD, help_text="What comes first."
    )
    offset = serializers.IntegerField(default=0, min_value=0, max_value=MAX_PROMPT_OFFSET)
    limit = serializers.IntegerField(default=50, min_value=1, max_value=200)


class EventsQuery(serializers.Serializer[Any]):
    after_seq = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_ID, help_text="Items above this number, oldest first."
    )
    before_seq = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_ID, help_text="The newest items below this number."
    )
    types = listed(
        default="",
        help_text="Types by comma, or `all`. Default: all but the frequent ones (metrics, spans, lend, log, …).",
    )
    limit = serializers.IntegerField(default=500, min_value=1, max_value=MAX_ITEMS)


class LogFilterQuery(serializers.Serializer[Any]):
    level = serializers.ChoiceField(LEVELS, default="", help_text="The least severity listed.")
    source = name_to_find(default="", help_text="A lane, `driver`, `web`, or a role: all lanes of it.")
    types = listed(default="", help_text="Types by comma: `log` for the engine's records, else those of events.")
    search = words_to_find(default="", help_text="Text that an entry contains.")
    attempt = serializers.IntegerField(required=False, min_value=0, max_value=MAX_INTEGER)


class LogsQuery(LogFilterQuery):
    after_seq = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_ID, help_text="Entries above this number, oldest first."
    )
    before_seq = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_ID, help_text="The newest entries below this number."
    )
    limit = serializers.IntegerField(default=200, min_value=1, max_value=MAX_ITEMS)
