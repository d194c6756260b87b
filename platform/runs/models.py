"""The rows of a run. Fields and constraints only.

`Run.state` is written by `runs.transitions` alone. Lock order everywhere: `RunStream` row, then `Run` row, then lanes.
"""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.models import Project
from worker.contracts.algebra import BatchAlgebra
from worker.contracts.commands import CommandKind
from worker.contracts.lanes import DEFAULT_POOL, MAX_POOL_NAME_CHARS, ElasticSpec, LaneSpec
from worker.contracts.names import Priority
from worker.contracts.resizing import ResizeCause, ResizeState
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import END_STATES, RunState

STATE_VALUES = [state.value for state in RunState]
MAX_NAME_CHARS = 120


class Run(models.Model):
    """A run: what its user asked for, and its progress as the driver reports it (`runs.driver_reports`)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    name = models.CharField(max_length=MAX_NAME_CHARS)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="created_runs"
    )
    created_at = models.DateTimeField(default=timezone.now)
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    """The run that this one was duplicated from."""

    spec = models.JSONField()
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
    """Digest of the settings that the costs of its work depend on; see `runs.cost_history`."""
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
    """`{num_rollout, num_trainer, num_reward}` of the lanes after a user's last resize, which later attempts ask for;
    null: those of the spec."""
    attempt = models.PositiveIntegerField(default=0)
    """The newest attempt's number; 0 before the first."""
    resume_from = models.TextField(blank=True, default="")
    """fsspec URL of the last checkpoint; empty: from the beginning."""
    resume_batch = models.PositiveIntegerField(default=0)
    failure = models.JSONField(null=True)
    """`{reason, phase, details, log_tail, suggestions: [...]}`; see `runs.failure`."""

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
        lanes = spec.lanes.model_copy(update=self.resized_lanes)
        # Bounds that the user's resize went beyond no longer hold.
        elastic = ElasticSpec() if any(spec.elastic.problems(lanes)) else spec.elastic
        return spec.model_copy(update={"lanes": lanes, "elastic": elastic})

    @property
    def asked_lanes(self) -> LaneSpec:
        """The lanes of `sized_spec`, without validating the rest: for queues of many runs."""
        return LaneSpec.model_validate({**self.spec["lanes"], **(self.resized_lanes or {})})

    @property
    def batch_algebra(self) -> BatchAlgebra:
        return BatchAlgebra.model_validate(self.algebra)


class RunStream(models.Model):
    """The counter behind `stream_seq`, shared by telemetry and transitions. Its row lock orders all writes of a run."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="stream")
    last_stream_seq = models.PositiveBigIntegerField(default=0)


class AttemptOutcome(models.TextChoices):
    ENDED = "ended"
    """The driver reported the run's end."""
    LOST = "lost"
    """The driver was lost; counts against `max_attempts`."""
    PARKED = "parked"
    """Paused for too long: checkpointed, its lanes freed."""
    MOVED = "moved"
    """Its lanes were drained by a deadline, and no others were free: checkpointed, and queued again."""
    CLOSED = "closed"
    """Ended from the web side: cancelled, or stopped before it began."""


class Attempt(models.Model):
    """One driver on the cluster. Open until `ended_at`; at most one of a run is open."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    resumed_from = models.TextField(blank=True, default="")

    submitted_at = models.DateTimeField(null=True)
    """Claimed by a launch task, which then submits the job."""
    bootstrap_code_hash = models.CharField(max_length=64, blank=True, default="")
    bootstrap_expires_at = models.DateTimeField(null=True)
    bootstrap_used_at = models.DateTimeField(null=True)
    token_hash = models.CharField(max_length=64, blank=True, default="")
    silent_from = models.DateTimeField(null=True)
    """Silence before this time does not count: the driver was not up yet, or the web was unavailable."""

    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=AttemptOutcome.choices, blank=True, default="")
    detail = models.TextField(blank=True, default="")
    """Why it ended, in one sentence; before its launch, why it has not been launched."""
    log_tail = models.TextField(blank=True, default="")
    """The job's last log lines, kept when the driver was lost or failed."""

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="attempt_number_once_per_run"),
            models.UniqueConstraint(fields=["run"], condition=models.Q(ended_at=None), name="one_open_attempt_per_run"),
        ]

    def __str__(self) -> str:
        return self.submission_id

    @property
    def submission_id(self) -> str:
        return submission_id(self.run_id, self.number)

    @cached_property
    def plan_revision(self) -> "PlanRevision | None":
        """The newest plan of the attempt; None if the user chose placement."""
        return self.plan_revisions.last()

    @cached_property
    def concrete_spec(self) -> RunSpec:
        """The spec that the attempt uses: its plan's, else the run's own with the lanes of its last resize."""
        revision = self.plan_revision
        return self.run.sized_spec if revision is None else RunSpec.model_validate(revision.spec)


def submission_id(run_id: uuid.UUID, attempt: int) -> str:
    """The attempt's id in Ray's Jobs API. It is known before submission, so that a repeated submission is
    recognised."""
    return f"tandem-{run_id}-{attempt}"


class PlanRevision(models.Model):
    """A plan that a run uses from a batch on. Appended, never changed."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="plan_revisions")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="plan_revisions")
    number = models.PositiveIntegerField()
    """Counts the run's revisions from 1."""
    since_batch = models.PositiveIntegerField()
    """Complete batches when it took effect."""
    reason = models.TextField()
    """Why the run uses it, in one sentence."""
    spec = models.JSONField()
    """The run's spec with placement, split and switches as the planner chose them."""
    plan = models.JSONField()
    """The choice and its alternatives, as `runs.plan_body` writes them."""
    promise = models.JSONField(null=True)
    """What the change to it was predicted to gain and to take (`runs.plan_body.PlanPromise`); null for the plan that an
    attempt begins with."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="plan_revision_number_once_per_run")]

    def __str__(self) -> str:
        return f"plan {self.number} of {self.run_id}"


class CachedPlan(models.Model):
    """A plan, keyed by all of its inputs, so that it is not computed twice. See `runs.plan_cache`."""

    key = models.CharField(max_length=64, primary_key=True)
    sections = models.JSONField()
    """The sections of the spec that the choice changes."""
    body = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now, db_index=True)


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


class PendingCommand(models.Model):
    """A command that every ingest answer carries to the driver until it reports `command_done`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="commands")
    kind = models.CharField(max_length=20, choices=[(kind.value, kind.value) for kind in CommandKind])
    args = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    delivered_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)
    accepted = models.BooleanField(null=True)
    detail = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["created_at"]
        indexes = [
            models.Index(fields=["run"], condition=models.Q(done_at=None), name="open_commands"),
        ]


RESIZE_REQUESTED = "requested"
RESIZE_STATES = [RESIZE_REQUESTED, *(state.value for state in ResizeState)]


class RunResize(models.Model):
    """A change of a run's lanes while it works: what was asked for, and how far the driver is with it.

    Its key is that of its command; a resize that the driver decided itself has no command.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="resizes")
    attempt = models.PositiveIntegerField()
    """Number of the attempt whose driver carries it out."""
    cause = models.CharField(max_length=10, choices=[(cause.value, cause.value) for cause in ResizeCause])
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    added = models.JSONField(default=list)
    """Names of the lanes that were allocated for it."""
    state = models.CharField(max_length=10, choices=[(state, state) for state in RESIZE_STATES])
    """`requested` until the driver has reported on it."""
    reason = models.TextField(blank=True, default="")
    """Why it failed, in one sentence."""
    lanes = models.JSONField(default=list)
    """`[{lane, role, step, detail}]`, as in `worker.contracts.resizing.LaneProgress`."""
    trainer_seconds = models.JSONField(null=True)
    """`{checkpoint, start, restore}`; null where the trainer gang was not replaced."""
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["run"], condition=models.Q(ended_at=None), name="open_resizes")]

    def __str__(self) -> str:
        return f"resize {self.pk} of {self.run_id}"


class MeasuredCosts(models.Model):
    """The costs of work that a run measured, as last reported. The planner uses them for runs of the same workload."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="measured_costs")
    devices = models.CharField(max_length=200)
    """The kinds of device that it ran on, separated by commas."""
    num_batches = models.PositiveIntegerField()
    """Complete batches in which they were measured."""
    costs = models.JSONField()
    """`[{lane, kind, per_call, per_unit, observed_units}]`, as in `worker.contracts.events.WorkCost`."""
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["devices", "-updated_at"], name="costs_by_device")]
