"""Nodes and their lanes. A lane is one GPU, or one CPU slot on machines without GPUs and for reward scoring.

Invariant: a lane is either free (`run_id` empty) or held for one run, by one of its attempts or by one preview of its
LoRA; gang atomicity lives here, in Postgres, not in Ray.
"""

from django.db import models
from django.utils import timezone


class NodeState(models.TextChoices):
    ACTIVE = "active"
    CORDONED = "cordoned"
    """Keeps what runs, takes nothing new."""
    DRAINING = "draining"
    """Takes nothing new and is waited for: with the end of the last run on it, it is drained."""
    OFFLINE = "offline"


class LaneKind(models.TextChoices):
    GPU = "gpu"
    CPU = "cpu"


class KeptBack(models.Model):
    """Why something takes no new work, and who said so; both empty where it does."""

    reason = models.CharField(max_length=200, blank=True, default="")
    kept_back_by = models.CharField(max_length=150, blank=True, default="")

    class Meta:
        abstract = True


class Node(KeptBack):
    name = models.SlugField(max_length=100, unique=True)
    ray_node_id = models.CharField(max_length=100, blank=True, default="")
    state = models.CharField(max_length=10, choices=NodeState.choices, default=NodeState.ACTIVE.value)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Lane(KeptBack):
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="lanes")
    kind = models.CharField(max_length=5, choices=LaneKind.choices)
    index = models.PositiveIntegerField()
    label = models.CharField(max_length=120, unique=True)
    """`<node>/<kind>-<index>`: how pages and admins name it."""
    device = models.CharField(max_length=100)
    """`cpu`, or the GPU's index on its node."""
    accelerator = models.CharField(max_length=100, blank=True, default="")
    """The GPU's model in its maker's words, for the planner; empty where nobody said, and for CPU lanes."""
    resource = models.CharField(max_length=120, blank=True, default="")
    """The node's custom Ray resource for this GPU; empty for CPU lanes."""
    num_cpus = models.FloatField(default=0.5)
    cordoned = models.BooleanField(default=False)
    run_id = models.UUIDField(null=True, db_index=True)
    attempt = models.PositiveIntegerField(null=True)
    """The attempt that holds the lane; empty where a preview does."""
    preview_id = models.UUIDField(null=True, unique=True)
    role = models.CharField(max_length=10, blank=True, default="")
    role_index = models.PositiveIntegerField(null=True)
    held_since = models.DateTimeField(null=True)

    class Meta:
        ordering = ["node__name", "kind", "index"]
        constraints = [
            models.UniqueConstraint(fields=["node", "kind", "index"], name="lane_once_per_node"),
            models.UniqueConstraint(
                fields=["run_id", "attempt", "role", "role_index"], name="lane_role_once_per_attempt"
            ),
            models.CheckConstraint(
                name="lane_free_or_held_whole",
                condition=(
                    models.Q(run_id=None, attempt=None, preview_id=None, role="", role_index=None, held_since=None)
                    | models.Q(
                        models.Q(attempt__isnull=False, preview_id=None)
                        | models.Q(attempt=None, preview_id__isnull=False),
                        run_id__isnull=False,
                        role__gt="",
                        role_index__isnull=False,
                        held_since__isnull=False,
                    )
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.label
