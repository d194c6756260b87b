"""Nodes, their GPUs, the lanes made of them, and who used which lane when.

A lane is the unit of allocation: one GPU or several of one node, or a CPU slot on machines without GPUs and for
scoring. Invariant: a lane is either free (`run_id` empty) or held for one run, by one of its attempts or by one preview
of its LoRA; gangs are allocated atomically here, in Postgres, not in Ray. A held lane has exactly one open `LaneUse`.
"""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models import Project


class NodeState(models.TextChoices):
    ACTIVE = "active"
    CORDONED = "cordoned"
    """Keeps its runs and takes no new work."""
    DRAINING = "draining"
    """Takes no new work; once the last run on it has ended, it is drained."""
    OFFLINE = "offline"


class LaneKind(models.TextChoices):
    GPU = "gpu"
    CPU = "cpu"


class Cordonable(models.Model):
    """Why a node or lane takes no new work, and the user who cordoned it. Both are empty while it takes work."""

    reason = models.CharField(max_length=200, blank=True, default="")
    cordoned_by = models.CharField(max_length=150, blank=True, default="")

    class Meta:
        abstract = True


class Node(Cordonable):
    name = models.SlugField(max_length=100, unique=True)
    ray_node_id = models.CharField(max_length=100, blank=True, default="")
    state = models.CharField(max_length=10, choices=NodeState.choices, default=NodeState.ACTIVE.value)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Lane(Cordonable):
    """One or several GPUs of a node, or a CPU slot, allocated to one holder at a time."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="lanes")
    kind = models.CharField(max_length=5, choices=LaneKind.choices)
    index = models.PositiveIntegerField()
    label = models.CharField(max_length=120, unique=True)
    """`<node>/<kind>-<index>`: how pages and admins name it. A GPU lane has the index of its first GPU."""
    num_cpus = models.FloatField(default=0.5)
    cordoned = models.BooleanField(default=False)
    run_id = models.UUIDField(null=True, db_index=True)
    attempt = models.PositiveIntegerField(null=True)
    """Number of the attempt that holds the lane; empty if a preview does."""
    preview_id = models.UUIDField(null=True, unique=True)
    role = models.CharField(max_length=10, blank=True, default="")
    name_in_run = models.CharField(max_length=40, blank=True, default="")
    """Its id for its holder: `<role>-<number>`, of the role that it was allocated for. It stays when the role changes.
    """
    held_since = models.DateTimeField(null=True)

    class Meta:
        ordering = ["node__name", "kind", "index"]
        constraints = [
            models.UniqueConstraint(fields=["node", "kind", "index"], name="lane_once_per_node"),
            models.UniqueConstraint(fields=["run_id", "attempt", "name_in_run"], name="lane_name_once_per_attempt"),
            models.CheckConstraint(
                name="lane_free_or_held_whole",
                condition=(
                    models.Q(run_id=None, attempt=None, preview_id=None, role="", name_in_run="", held_since=None)
                    | models.Q(
                        models.Q(attempt__isnull=False, preview_id=None)
                        | models.Q(attempt=None, preview_id__isnull=False),
                        run_id__isnull=False,
                        role__gt="",
                        name_in_run__gt="",
                        held_since__isnull=False,
                    )
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def device(self) -> str:
        """`cpu`, or the indices of its GPUs on their node, joined by commas."""
        return ",".join(str(gpu.index) for gpu in self.gpus.all()) or "cpu"

    @property
    def accelerator(self) -> str:
        """The model of its GPUs, which are all the same; empty if unknown, and for CPU lanes."""
        return next((gpu.accelerator for gpu in self.gpus.all()), "")


class Gpu(models.Model):
    """One accelerator card of a node. It works for at most one lane."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="gpus")
    lane = models.ForeignKey(Lane, null=True, on_delete=models.SET_NULL, related_name="gpus")
    index = models.PositiveIntegerField()
    """Its index on the node, in the order of the GPU driver."""
    uuid = models.CharField(max_length=100, blank=True, default="")
    """The UUID that the GPU driver reports; empty until it has been read."""
    accelerator = models.CharField(max_length=100, blank=True, default="")
    """The card's product name, by which the planner finds its hardware profile; empty if unknown."""
    resource = models.CharField(max_length=120)
    """The node's custom Ray resource for this card, with which Ray places an actor on its node."""

    class Meta:
        ordering = ["node__name", "index"]
        constraints = [
            models.UniqueConstraint(fields=["node", "index"], name="gpu_once_per_node"),
            models.UniqueConstraint(fields=["uuid"], condition=~models.Q(uuid=""), name="gpu_uuid_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The card's name in histories: its UUID, or `<node>/gpu-<index>` while that is unknown."""
        return self.uuid or f"{self.node.name}/gpu-{self.index}"


class LaneUse(models.Model):
    """The time for which one holder had one lane. Appended when the lane is allocated; afterwards only `until` is
    written, once.

    Names are copied, because usage records outlive deleted nodes, lanes and runs.
    """

    lane = models.ForeignKey(Lane, null=True, on_delete=models.SET_NULL, related_name="uses")
    label = models.CharField(max_length=120)
    """The lane's label."""
    gpus = ArrayField(models.CharField(max_length=100), default=list)
    """Names of the lane's GPUs; empty for a CPU slot."""
    accelerator = models.CharField(max_length=100, blank=True, default="")
    run_id = models.UUIDField(db_index=True)
    attempt = models.PositiveIntegerField(null=True)
    preview_id = models.UUIDField(null=True)
    role = models.CharField(max_length=10)
    name_in_run = models.CharField(max_length=40)
    """The lane's id for its holder, as `Lane.name_in_run`. A lane whose role changes has a use for each role."""
    project = models.ForeignKey(Project, null=True, on_delete=models.SET_NULL, related_name="lane_uses")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="lane_uses")
    """The user who created the run, or asked for the preview."""
    borrowed_from = models.ForeignKey(Project, null=True, on_delete=models.SET_NULL, related_name="lent_lane_uses")
    """The project from whose unused share the lane was borrowed; null if the holder's own project was entitled to
    it."""
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)
    """When the lane was released; null while it is held."""

    class Meta:
        ordering = ["since", "pk"]
        indexes = [models.Index(fields=["project", "since"], name="lane_use_of_project")]
        constraints = [
            models.UniqueConstraint(fields=["lane"], condition=models.Q(until=None), name="one_open_use_per_lane"),
            models.CheckConstraint(
                name="lane_use_ends_after_it_began",
                condition=models.Q(until=None) | models.Q(until__gte=models.F("since")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} for {self.run_id}"
