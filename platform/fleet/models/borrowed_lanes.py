"""Loans of lanes between runs: who lends what to whom, from when until when, why, and what was expected of it.

What a loan has brought (samples, batches that end sooner) is measured by the run's telemetry and read from there
(`telemetry.lending.lend_listing`). Invariant: a lane has at most one open loan, and its loan ends with its use.
"""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models import Project
from fleet.models.allocation import Lane
from worker.contracts.lanes import DEFAULT_POOL, MAX_POOL_NAME_CHARS


class LaneLoan(models.Model):
    """A lane that a run has beyond what it was given, or that it is asked back for another run. Names are copied, since
    the ledger outlives deleted lanes and runs."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lane = models.ForeignKey(Lane, null=True, on_delete=models.SET_NULL, related_name="loans")
    label = models.CharField(max_length=120)
    """The lane's label."""
    pool = models.CharField(max_length=MAX_POOL_NAME_CHARS, default=DEFAULT_POOL)
    """Name of the pool that it was lent in."""
    gpus = ArrayField(models.CharField(max_length=100), default=list)
    """Names of the lane's GPUs; empty for a CPU slot."""
    run_id = models.UUIDField(db_index=True)
    """The borrower."""
    attempt = models.PositiveIntegerField()
    name_in_run = models.CharField(max_length=40)
    role = models.CharField(max_length=10)
    """What the lane does for the borrower."""
    project = models.ForeignKey(Project, null=True, on_delete=models.SET_NULL, related_name="borrowed_lanes")
    """The borrower's project."""
    lender = models.ForeignKey(Project, null=True, on_delete=models.SET_NULL, related_name="lent_lanes")
    """The project that is guaranteed the lane and does not use it; null for a lane of the pool, which nobody is
    guaranteed."""
    lender_name = models.CharField(max_length=120, blank=True, default="")
    """The lender's name, which outlives it; empty for the pool."""
    resize = models.UUIDField(null=True)
    """The resize by which it joined; null for a lane that the run was given when it began."""
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)
    """When the lane was free again; null while it is lent."""
    reason = models.TextField()
    """Why it was lent, in one sentence."""
    end_reason = models.TextField(blank=True, default="")
    """Why it ended, or is about to, in one sentence."""
    joined_at = models.DateTimeField(null=True)
    """When the lane worked for the borrower; null before."""
    for_run_id = models.UUIDField(null=True)
    """The run that it was asked back for."""
    notice_at = models.DateTimeField(null=True)
    """When it was asked back; null if it was not."""
    notice = models.UUIDField(null=True)
    """The resize by which it was asked back."""
    bound_seconds = models.FloatField(null=True)
    """Seconds after the notice within which the lane had to be given back; null for a trainer lane, which leaves at a
    checkpoint."""
    num_dropped = models.PositiveIntegerField(default=0)
    """Fragments that were dropped at the bound, and that others have drawn again from the same seeds."""
    num_lanes = models.PositiveIntegerField(default=1)
    """Lanes that were lent by the same decision."""
    predicted_seconds_before = models.FloatField(null=True)
    """Seconds of a batch as predicted without the lanes of the decision; null without a prediction, as the next two."""
    predicted_seconds = models.FloatField(null=True)
    """Seconds of a batch as predicted with them."""
    expected_stay_seconds = models.FloatField(null=True)
    """How long the lane was expected to stay."""
    predicted_gain_seconds = models.FloatField(null=True)
    """Seconds by which the run was predicted to get ahead during that time, net of switching, by each of the lanes."""

    class Meta:
        ordering = ["-since", "pk"]
        indexes = [
            models.Index(fields=["run_id", "attempt"], name="loan_of_run"),
            models.Index(fields=["until", "since"], name="loan_by_time"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["lane"], condition=models.Q(until=None), name="one_open_loan_per_lane"),
            models.CheckConstraint(
                name="loan_ends_after_it_began",
                condition=models.Q(until=None) | models.Q(until__gte=models.F("since")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} lent to {self.run_id}"
