"""What the queue knows of a run: its pace, and where an admin put it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from runs.models.run_rows import Run


class RunPace(models.Model):
    """How fast a run's newest attempt gets on, by the times at which it published. Forecasts rest on it, of the run
    itself and of runs like it (`runs.forecast.end_forecast`)."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="pace")
    attempt = models.PositiveIntegerField()
    likeness = models.CharField(max_length=64, db_index=True)
    """Digest of all that its pace depends on, as far as its user chose it; see `runs.forecast.paces`."""
    version = models.PositiveIntegerField()
    """The policy version that it published last."""
    published_at = models.FloatField()
    """When it did, in Unix seconds by the driver's clock."""
    start_seconds = models.FloatField(null=True)
    """From the allocation of its lanes until its first batch began; null while no batch is complete."""
    batch_seconds = ArrayField(models.FloatField(), default=list)
    """Times between its newest versions, the oldest first, without those in which it was paused."""
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["likeness", "-updated_at"], name="paces_alike")]

    def __str__(self) -> str:
        return f"pace of {self.run_id}"


class QueuePlace(models.Model):
    """Where a pool admin put a waiting run in the queue. It holds until the run has lanes, or an admin undoes it."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="queue_place")
    attempt = models.PositiveIntegerField()
    """Number of the run's newest attempt at that time: the place is void once there is another."""
    behind = models.JSONField(default=list)
    """Ids of the runs that were left ahead of it. As many as still wait of them are served before it."""
    words = models.CharField(max_length=40)
    """What was done, such as `moved to the front`."""
    reason = models.CharField(max_length=200)
    moved_by = models.CharField(max_length=150)
    """Name of the admin."""
    moved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["moved_at"]

    def __str__(self) -> str:
        return f"{self.run_id} {self.words} by {self.moved_by}"
