"""How far each mirror has got with each run."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from catalog.models import Mirror
from runs.models import Run

MAX_ERROR_CHARS = 500
"""Of an error that is kept: enough for what is wrong."""


class MirroringState(models.TextChoices):
    FOLLOWING = "following"
    DONE = "done"
    """The run has ended, and all of it is there."""
    GIVEN_UP = "given_up"
    """Every try failed; a user can have it tried again."""


class MirroredRun(models.Model):
    """One run in one mirror.

    Invariant: everything of the run's stream up to `after_seq` was accepted there; `kept` is what the mirror needs to
    go on exactly after it, and both are written together.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="mirrored")
    mirror = models.ForeignKey(Mirror, on_delete=models.CASCADE, related_name="mirrored")
    label = models.CharField(max_length=100)
    """Name of the run's folder, for mirrors that write to folders."""
    state = models.CharField(max_length=9, choices=MirroringState.choices, default=MirroringState.FOLLOWING.value)
    after_seq = models.PositiveBigIntegerField(default=0)
    batch = models.PositiveIntegerField(default=0)
    """The newest batch of which something was accepted."""
    kept = models.JSONField(default=dict)
    url = models.CharField(max_length=500, blank=True, default="")
    """Its page there; empty for folders."""
    num_pictures_left_out = models.PositiveIntegerField(default=0)
    """Pictures that were not stored in time, or that it does not take."""
    num_failures = models.PositiveSmallIntegerField(default=0)
    """Failed tries since the last that was accepted."""
    error = models.CharField(max_length=MAX_ERROR_CHARS, blank=True, default="")
    """Of the last try; empty where it was accepted."""
    next_at = models.DateTimeField(null=True, default=timezone.now)
    """When it is due; null where nothing is to be done."""
    begun_at = models.DateTimeField(null=True)
    """When the session under way began; null between two."""
    accepted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["run", "mirror"], name="mirrored_run_once")]
        indexes: ClassVar = [
            models.Index(fields=["next_at"], condition=Q(next_at__isnull=False), name="mirrored_run_due")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} in {self.mirror_id}"
