"""A run, the counter of its stream, and its changes of state.

`Run.state` is written by `runs.transitions` alone.
"""

import uuid

from django.conf import settings
from django.db import models
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.models import Project
from worker.contracts.algebra import BatchAlgebra
from worker.contracts.lanes import DEFAULT_POOL, MAX_POOL_NAME_CHARS, ElasticSpec, LaneSpec
from worker.contracts.names import Priority
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import END_STATES, RunState

STATE_VALUES = [state.value for state in RunState]
MAX_NAME_CHARS = 120
MAX_PRESET_CHARS = 100


class Run(models.Model):
    """A run: what its user asked for, and its progress as the driver reports it (`runs.reports.driver_reports`)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    name = models.CharField(max_length=MAX_NAME_CHARS)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="created_runs"
    )
    created_at = models.DateTimeField(default=timezone.now)
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    """The run that this one was duplicated or forked from."""
    forked_from = models.TextField(blank=True, default="")
    """fsspec URL of the parent's checkpoint that it begins from; empty: from the base model."""
    forked_batch = models.PositiveIntegerField(null=True)
    """Complete batches of that checkpoint, from which it counts on; null: from 0."""

    traceparent = models.CharField(max_length=55, blank=True, default="")
    """W3C's context of the request that made the run, by which its trace goes on; empty without traces."""

    spec = models.JSONField()
    spec_lanes = models.GeneratedField(
        expression=KeyTransform("lanes", "spec"), output_field=models.JSONField(), db_persist=True
    )
    """The `lanes` of `spec`, so that queues need not read specs."""
    base_model = models.GeneratedField(
        expression=KeyTextTransform("path", KeyTransform("base_model", "spec")),
        output_field=models.TextField(),
        db_persist=True,
    )
    """The spec's `base_model.path`, by which lists are grouped without reading specs; likewise the next one."""
    algorithm = models.GeneratedField(
        expression=KeyTextTransform("name", KeyTransform("algorithm", "spec")),
        output_field=models.TextField(),
        db_persist=True,
    )
    preset = models.CharField(max_length=MAX_PRESET_CHARS, blank=True, default="")
    """Name of the preset that its form was filled from, or that of the run it repeats; empty: none."""
    prompts = models.JSONField()
    """The prompts, copied when the run is created, because its prompt set may be deleted later."""
    num_prompts = models.GeneratedField(
        expression=models.Func("prompts", function="jsonb_array_length"),
        output_field=models.PositiveIntegerField(),
        db_persist=True,
    )
    """Counted by the database, so that lists need not read the prompts."""
    algebra = models.JSONField()
    num_batches = models.PositiveIntegerField()
    max_attempts = models.PositiveIntegerField()
    workload = models.CharField(max_length=64)
    """Digest of the settings that the costs of its work depend on; see `runs.planning.cost_history`."""
    priority = models.PositiveSmallIntegerField(default=Priority.NORMAL.rank)
    """Rank of the spec's priority in the queue, 0 first."""
    pool = models.CharField(max_length=MAX_POOL_NAME_CHARS, default=DEFAULT_POOL)
    """The spec's `lanes.pool`, in whose queue it waits."""

    state = models.CharField(
        max_length=10, choices=[(value, value) for value in STATE_VALUES], default=RunState.QUEUED.value
    )
    state_changed_at = models.DateTimeField(default=timezone.now)
    ending = models.CharField(max_length=10, blank=True, default="")
    """`stop` or `cancel` once requested: the end that `stopping` leads to. Empty again when a stopped run is
    resumed."""
    ending_at = models.DateTimeField(null=True)
    resized_lanes = models.JSONField(null=True)
    """Fields of the spec's `lanes` as of a user's last resize, or of another size taken while the run waited, which
    later attempts ask for; null: those of the spec."""
    attempt = models.PositiveIntegerField(default=0)
    """The newest attempt's number; 0 before the first."""
    resume_from = models.TextField(blank=True, default="")
    """fsspec URL of the last checkpoint, a fork's origin included; empty: from the beginning."""
    resume_batch = models.PositiveIntegerField(default=0)
    failure = models.JSONField(null=True)
    """`{reason, phase, details, log_tail, suggestions: [...]}`; see `runs.attempts.failure`."""

    phase = models.CharField(max_length=20, blank=True, default="")
    num_batches_done = models.PositiveIntegerField(default=0)
    policy_version = models.PositiveIntegerField(default=0)
    headline = models.JSONField(default=dict)
    """Held-out evaluation, first and latest: `{reward_before, reward_after, before, after, batch_after}`."""
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    last_heartbeat_at = models.DateTimeField(null=True)

    notes = models.TextField(blank=True, default="")
    tags = models.JSONField(default=list)
    archived_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "pool", "priority", "created_at"], name="run_queue"),
            models.Index(fields=["project", "-created_at"], name="run_list"),
            # For a page over many projects: without it all their runs are read and sorted for each.
            models.Index(fields=["-created_at", "-id"], name="run_newest"),
            models.Index(fields=["workload"], name="run_workload"),
        ]
        constraints = [
            models.CheckConstraint(name="run_state_known", condition=models.Q(state__in=STATE_VALUES)),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"

    @property
    def run_state(self) -> RunState:
        return RunState(self.state)

    @property
    def has_ended(self) -> bool:
        return self.run_state in END_STATES

    @cached_property
    def run_spec(self) -> RunSpec:
        """`spec`, validated once: it never changes."""
        return RunSpec.model_validate(self.spec)

    @property
    def sized_spec(self) -> RunSpec:
        """The spec with the lanes that an attempt asks for: its own, or those of a user's last resize."""
        spec = self.run_spec
        if not self.resized_lanes:
            return spec
        lanes = LaneSpec.model_validate({**spec.lanes.model_dump(), **self.resized_lanes})
        # Bounds that the user's resize went beyond no longer hold.
        elastic = ElasticSpec() if any(spec.elastic.problems(lanes)) else spec.elastic
        return spec.model_copy(update={"lanes": lanes, "elastic": elastic})

    @property
    def asked_lanes(self) -> LaneSpec:
        """The lanes of `sized_spec`, without reading and validating the rest: for queues of many runs."""
        return LaneSpec.model_validate({**self.spec_lanes, **(self.resized_lanes or {})})

    @property
    def batch_algebra(self) -> BatchAlgebra:
        return BatchAlgebra.model_validate(self.algebra)


class RunStream(models.Model):
    """The counter behind `stream_seq`, shared by telemetry and transitions. Its row lock orders all writes of a run."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="stream")
    last_stream_seq = models.PositiveBigIntegerField(default=0)


class RunTransition(models.Model):
    """One change of state, appended and never changed. Numbered in the run's stream like any event."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="transitions")
    stream_seq = models.PositiveBigIntegerField()
    old = models.CharField(max_length=10, blank=True, default="")
    """Empty for the first: the run was created."""
    new = models.CharField(max_length=10)
    reason = models.TextField(blank=True, default="")
    actor = models.CharField(max_length=150)
    """A user name, or `driver`, `dispatch`, `reconciler`."""
    request_id = models.CharField(max_length=64, blank=True, default="")
    """`X-Request-ID` of the request that led to it, the driver's own reports included; empty if a periodic task led to
    it."""
    token_key = models.CharField(max_length=25, blank=True, default="")
    """First characters of the API token that the request carried; empty for a session and for a driver."""
    attempt = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["stream_seq"]
        constraints = [
            models.UniqueConstraint(fields=["run", "stream_seq"], name="transition_seq_once_per_run"),
        ]
