"""Deletions that a pool admin asks for: each begins as a preview of what would go, and is carried out only by name."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

MAX_PROBLEM_CHARS = 500


class DeletionState(models.TextChoices):
    SHOWN = "shown"
    """A preview: nobody has asked for it to be carried out."""
    OPEN = "open"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Deletion(models.Model):
    """What a pool admin was shown, and how far its deletion is.

    Invariant: nothing is deleted that is not in `shares`. Of open ones there is one at most.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    state = models.CharField(max_length=9, choices=DeletionState.choices, default=DeletionState.SHOWN.value)
    made_at = models.DateTimeField(default=timezone.now)
    shares = models.JSONField()
    """`Share` of each kind and run, in the order in which they are deleted."""
    num_items = models.PositiveBigIntegerField()
    """Rows and files of all shares."""
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(null=True)
    """When it was asked for; likewise null for a preview the two below."""
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    num_shares_done = models.PositiveIntegerField(default=0)
    """The first so many of `shares` are deleted, or were left."""
    num_shares_left = models.PositiveIntegerField(default=0)
    """Those of them that were left: not past their days any more, or of more than was shown."""
    num_items_deleted = models.PositiveBigIntegerField(default=0)
    round = models.PositiveIntegerField(default=0)
    """Number of the round that works on it; an older one that still lives stops before its next piece."""
    worked_until = models.DateTimeField(null=True)
    """A round works on it until then, unless it says otherwise; one that is not back by then was lost."""
    num_rounds_lost = models.PositiveSmallIntegerField(default=0)
    """In a row."""
    problem = models.CharField(max_length=MAX_PROBLEM_CHARS, blank=True, default="")
    """Why it failed."""

    class Meta:
        ordering = ["-made_at"]
        constraints = [
            models.UniqueConstraint(fields=["state"], condition=Q(state="open"), name="one_open_deletion"),
        ]

    def __str__(self) -> str:
        return f"deletion of {self.made_at:%Y-%m-%d %H:%M}"
