"""What a driver is told to do, and how far it is with a change of its lanes."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from runs.models.run_rows import Run
from worker.contracts.commands import CommandKind
from worker.contracts.resizing import ResizeCause, ResizeState


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
