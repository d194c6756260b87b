"""Whether a node, a GPU or a lane takes work, by whose decision, and every change of that.

Invariant: `fleet.states.state_changes` alone writes these columns, and appends a `StateChange` with each change.
"""

from django.db import models
from django.utils import timezone


class ServiceState(models.TextChoices):
    ACTIVE = "active"
    """Takes work."""
    CORDONED = "cordoned"
    """Keeps its runs and takes no new work."""
    DRAINING = "draining"
    """Takes no new work; once the last run on it has ended, it is drained."""
    MAINTENANCE = "maintenance"
    """Somebody works on it. Its GPUs are tested before they take work again."""
    AWAITING_TEST = "awaiting_test"
    """A GPU that takes work again once a test has passed."""
    FAULTY = "faulty"
    """A GPU whose readings or test say that it fails. It is tested before it takes work again."""


class InService(models.Model):
    """What is decided about a node, a GPU or a lane. A lane takes work where its node, all its GPUs and itself do."""

    state = models.CharField(max_length=15, choices=ServiceState.choices, default=ServiceState.ACTIVE.value)
    reason = models.CharField(max_length=200, blank=True, default="")
    """Why it takes no work; empty while it does."""
    changed_by = models.CharField(max_length=150, blank=True, default="")
    """The user or the part of Tandem that decided so last; empty where nobody has."""
    state_since = models.DateTimeField(default=timezone.now)
    state_until = models.DateTimeField(null=True)
    """When maintenance is to end, or by when what is drained has to be empty; null for no set time."""

    class Meta:
        abstract = True


LOST, FOUND = "lost", "found"
"""What histories call it that a node or GPU is gone, and that it has come back."""


class StateChange(models.Model):
    """One change, for histories. Names are copied, because a history outlives what it is of."""

    node = models.ForeignKey("Node", null=True, on_delete=models.SET_NULL, related_name="state_changes")
    gpu = models.ForeignKey("Gpu", null=True, on_delete=models.SET_NULL, related_name="state_changes")
    lane = models.ForeignKey("Lane", null=True, on_delete=models.SET_NULL, related_name="state_changes")
    name = models.CharField(max_length=220)
    """Name of the node, the GPU or the lane."""
    old = models.CharField(max_length=20)
    new = models.CharField(max_length=20)
    """A `ServiceState`, `lost`, or `found` where something lost has come back."""
    reason = models.CharField(max_length=200, blank=True, default="")
    by = models.CharField(max_length=150)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["-at"], name="state_change_at")]

    def __str__(self) -> str:
        return f"{self.name}: {self.old} → {self.new}"
