"""Reports of runs, as stored.

`StreamItem` is authoritative: one row for each event, in the order of `stream_seq`, never changed; but for log records,
the most frequent of all, which `RunLogEntry` holds word for word. Metric points and spans are extracted from the same
events into rows that SQL can aggregate; they have the `stream_seq` of their event, so a reader can read every table up
to the same event. Lane time is the spans' running total, stored so that the sums over a run cost the same at any
length.
"""

from django.db import models

from runs.models import Run, unreadable_rows
from worker.contracts.sample_reports import GroupOutcome
from worker.contracts.spans import Span


class AttemptStream(models.Model):
    """How far one attempt's events are stored: everything up to `high_water`, without gaps."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    attempt = models.PositiveIntegerField()
    high_water = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "attempt"], name="attempt_stream_once")]


class StreamItem(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    stream_seq = models.PositiveBigIntegerField()
    attempt = models.PositiveIntegerField()
    seq = models.PositiveBigIntegerField()
    type = models.CharField(max_length=32)
    at = models.FloatField(help_text="Unix time in seconds, by the driver's clock.")
    body = models.JSONField(help_text="The event without `seq`, `at` and `type`.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "stream_seq"], name="stream_item_number_once"),
            models.UniqueConstraint(fields=["run", "attempt", "seq"], name="stream_item_event_once"),
        ]
        indexes = [
            models.Index(fields=["run", "type", "stream_seq"], name="stream_item_by_type"),
            unreadable_rows("stream_item", clock=["at"]),
        ]


class MetricPoint(models.Model):
    """One value of one metric. Points of batches that a resume went back behind are gone; their events are not."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    stream_seq = models.PositiveBigIntegerField()
    attempt = models.PositiveIntegerField()
    key = models.CharField(max_length=128)
    batch = models.PositiveIntegerField(help_text="Complete batches, from 1.")
    optimizer_step = models.PositiveIntegerField()
    at = models.FloatField()
    value = models.FloatField()

    class Meta:
        indexes = [
            models.Index(fields=["run", "key", "optimizer_step"], name="metric_point_by_key"),
            unreadable_rows("metric_point", clock=["at"], values=["value"]),
        ]


class MetricRollup(models.Model):
    """What the points of one metric say in one bucket of optimizer steps; see `telemetry.curves.metric_rollups`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=128)
    attempt = models.PositiveIntegerField()
    level = models.PositiveSmallIntegerField(help_text="Buckets are 4^level optimizer steps wide.")
    bucket = models.PositiveBigIntegerField(help_text="Counts buckets of that width from step 0.")
    first_step = models.PositiveIntegerField()
    last_step = models.PositiveIntegerField()
    last_batch = models.PositiveIntegerField()
    last_at = models.FloatField()
    min = models.FloatField()
    max = models.FloatField()
    mean = models.FloatField()
    count = models.PositiveIntegerField()

    class Meta:
        constraints = [
            # In the order in which curves are read, so that this index is the only one to keep.
            models.UniqueConstraint(fields=["run", "level", "key", "attempt", "bucket"], name="metric_rollup_once")
        ]


OUTCOME_COLUMNS = tuple(GroupOutcome.model_fields)
"""The fields of a group's outcome, which are columns of `GroupOutcomeRow`."""


class GroupOutcomeRow(models.Model):
    """What became of one group of a batch. Rows of batches that a resume went back behind are gone."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    attempt = models.PositiveIntegerField()
    batch = models.PositiveIntegerField(help_text="Complete batches, from 1.")
    prompt_index = models.PositiveIntegerField(help_text="Among the run's prompts.")
    mean_reward = models.FloatField(null=True)
    reward_std = models.FloatField()
    has_spread = models.BooleanField()
    num_dropped_draws = models.PositiveIntegerField()
    num_missing = models.PositiveIntegerField()
    num_repeated_fragments = models.PositiveIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["run", "prompt_index", "batch"], name="group_outcome_by_prompt"),
            unreadable_rows("group_outcome", values=["reward_std"]),
        ]


SPAN_COLUMNS = tuple(Span.model_fields)
"""The fields of a span, which are columns of `SpanRow`."""


class SpanRow(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    stream_seq = models.PositiveBigIntegerField()
    attempt = models.PositiveIntegerField()
    lane = models.CharField(max_length=64)
    kind = models.CharField(max_length=16)
    cause = models.CharField(max_length=24, null=True)
    start = models.FloatField()
    end = models.FloatField()
    batch = models.PositiveIntegerField(null=True)
    group = models.PositiveIntegerField(null=True)
    fragment = models.PositiveIntegerField(null=True)
    policy_version = models.PositiveIntegerField(null=True)
    num_samples = models.PositiveIntegerField(default=0)
    rank = models.PositiveSmallIntegerField(null=True)
    num_units = models.PositiveIntegerField(default=0)
    for_run = models.UUIDField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["run", "end", "start"], name="span_by_window"),
            models.Index(fields=["run", "lane", "start"], name="span_by_lane"),
            # For the story of a fragment: without it all spans of the run are read.
            models.Index(fields=["run", "batch"], name="span_by_batch"),
            unreadable_rows("span", clock=["start", "end"]),
        ]


class LaneStateRollup(models.Model):
    """Seconds that the lanes of one role spent in one kind of span in one bucket of time; see
    `telemetry.timeline.lane_state_rollups`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    level = models.PositiveSmallIntegerField(help_text="Buckets are 4 s × 4^level long.")
    bucket = models.PositiveBigIntegerField(help_text="Counts buckets of that length from Unix time 0.")
    role = models.CharField(max_length=16, blank=True)
    kind = models.CharField(max_length=16)
    seconds = models.FloatField()

    class Meta:
        constraints = [
            # In the order in which windows are read, so that this index is the only one to keep.
            models.UniqueConstraint(fields=["run", "level", "bucket", "role", "kind"], name="lane_state_rollup_once")
        ]


class LaneTime(models.Model):
    """What one lane spent on one class of time in one attempt, and the stretch in which it did."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    attempt = models.PositiveIntegerField()
    lane = models.CharField(max_length=64)
    kind = models.CharField(max_length=16)
    cause = models.CharField(max_length=24, blank=True, default="")
    seconds = models.FloatField()
    first_start = models.FloatField()
    last_end = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "attempt", "lane", "kind", "cause"], name="lane_time_class_once")
        ]
        indexes = [unreadable_rows("lane_time", clock=["first_start", "last_end"], values=["seconds"])]
