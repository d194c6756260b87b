"""The attempts at a run, and the plans that each of them used."""

import uuid

from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property

from runs.models.run_rows import Run
from worker.contracts.names import RewardDevice
from worker.contracts.run_spec import RunSpec


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
    num_overtaken = models.PositiveIntegerField(default=0)
    """Runs that were ahead of it in the queue and did not fit, when it was started without delaying any of them."""
    rewards_on = models.CharField(max_length=10, blank=True, default="")
    """The `RewardDevice` that dispatch decided for its lanes; empty before that was recorded."""

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
        """The spec that the attempt uses: its plan's, else the run's own with the lanes of its last resize, and rewards
        on what dispatch decided."""
        if self.plan_revision is not None:
            return RunSpec.model_validate(self.plan_revision.spec)
        sized = self.run.sized_spec
        decided = (device for device in RewardDevice if device.value == self.rewards_on)
        return next((sized.scoring_on(device) for device in decided), sized)


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
    """The choice and its alternatives, as `runs.planning.plan_body` writes them."""
    promise = models.JSONField(null=True)
    """What the change to it was predicted to gain and to take (`runs.planning.plan_body.PlanPromise`); null for the
    plan that an attempt begins with."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="plan_revision_number_once_per_run")]

    def __str__(self) -> str:
        return f"plan {self.number} of {self.run_id}"
