"""Lanes, the unit of allocation, and who used which lane when: the record that usage and cost are computed from.

A lane is one GPU or several of one node, or a CPU slot on machines without GPUs and for scoring. Invariant: a lane is
either free (`held_since` empty) or held whole: for one run, by one of its attempts or by one preview of its LoRA, or by
a test of a GPU. Gangs are allocated atomically here, in Postgres, not in Ray. A held lane has exactly one open
`LaneUse`.
"""

from decimal import Decimal

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone

from accounts.models import Project
from fleet.models.pools import Pool
from fleet.models.service_states import InService
from worker.contracts.device_names import several
from worker.contracts.lanes import DEFAULT_POOL, MAX_POOL_NAME_CHARS


class LaneKind(models.TextChoices):
    GPU = "gpu"
    CPU = "cpu"


class Lane(InService):
    """One or several GPUs of a node, or a CPU slot, allocated to one holder at a time."""

    node = models.ForeignKey("Node", on_delete=models.CASCADE, related_name="lanes")
    kind = models.CharField(max_length=5, choices=LaneKind.choices)
    index = models.PositiveIntegerField()
    label = models.CharField(max_length=120, unique=True)
    """`<node>/<kind>-<index>`: how pages and admins name it. A GPU lane has the index of its first GPU."""
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="lanes")
    """A new lane is in the default one until `fleet.pools.pool_membership`, which alone changes it, has seen it."""
    num_cpus = models.FloatField(default=0.5)
    run_id = models.UUIDField(null=True, db_index=True)
    """The run that it is held for; empty if it is free, and if a test holds it."""
    attempt = models.PositiveIntegerField(null=True)
    """Number of the attempt that holds the lane; empty if a preview or a test does."""
    preview_id = models.UUIDField(null=True, unique=True)
    test_id = models.UUIDField(null=True, db_index=True)
    """The test that holds it: of a GPU of its own, or of another one that it is the peer of."""
    role = models.CharField(max_length=10, blank=True, default="")
    name_in_run = models.CharField(max_length=40, blank=True, default="")
    """Its id for its holder: `<role>-<number>`, of the role that it was allocated for. It stays when the role changes.
    """
    held_since = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["node__name", "kind", "index"]
        constraints = [
            models.UniqueConstraint(fields=["node", "kind", "index"], name="lane_once_per_node"),
            models.UniqueConstraint(fields=["run_id", "attempt", "name_in_run"], name="lane_name_once_per_attempt"),
            models.UniqueConstraint(fields=["test_id", "name_in_run"], name="lane_name_once_per_test"),
            models.CheckConstraint(
                name="lane_free_or_held_whole",
                condition=(
                    models.Q(
                        run_id=None,
                        attempt=None,
                        preview_id=None,
                        test_id=None,
                        role="",
                        name_in_run="",
                        held_since=None,
                    )
                    | models.Q(
                        models.Q(run_id__isnull=False, attempt__isnull=False, preview_id=None, test_id=None)
                        | models.Q(run_id__isnull=False, attempt=None, preview_id__isnull=False, test_id=None)
                        | models.Q(run_id=None, attempt=None, preview_id=None, test_id__isnull=False),
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
    def price_per_hour(self) -> Decimal | None:
        """What its GPUs cost together, each its own price or its node's; `None` where none has a price."""
        own = (gpu.price_per_gpu_hour for gpu in self.gpus.all())
        prices = [self.node.price_per_gpu_hour if price is None else price for price in own]
        known = [price for price in prices if price is not None]
        return sum(known, Decimal(0)) if known else None

    @property
    def accelerator(self) -> str:
        """The model of its GPUs, which are all the same; empty if unknown, and for CPU lanes."""
        return next((gpu.accelerator for gpu in self.gpus.all()), "")

    @property
    def device_kind(self) -> str:
        """The name by which lanes are alike: its accelerator's, before it their number where it has several; `cpu` for
        CPU lanes."""
        return LaneKind.CPU.value if self.kind == LaneKind.CPU else several(self.accelerator, len(self.gpus.all()))


class LaneUse(models.Model):
    """The time for which one holder had one lane. Appended when the lane is allocated; afterwards only `until` is
    written, once.

    Names are copied, because usage records outlive deleted nodes, lanes and runs.
    """

    lane = models.ForeignKey(Lane, null=True, on_delete=models.SET_NULL, related_name="uses")
    label = models.CharField(max_length=120)
    """The lane's label."""
    pool = models.CharField(max_length=MAX_POOL_NAME_CHARS, default=DEFAULT_POOL)
    """Name of the pool that the lane was in when it was allocated: the use counts for that one to its end."""
    gpus = ArrayField(models.CharField(max_length=100), default=list)
    """Names of the lane's GPUs; empty for a CPU slot."""
    accelerator = models.CharField(max_length=100, blank=True, default="")
    run_id = models.UUIDField(null=True, db_index=True)
    """The run that it counts for; null for a test, which counts for nobody."""
    attempt = models.PositiveIntegerField(null=True)
    preview_id = models.UUIDField(null=True)
    test_id = models.UUIDField(null=True)
    role = models.CharField(max_length=10)
    name_in_run = models.CharField(max_length=40)
    """The lane's id for its holder, as `Lane.name_in_run`. A lane whose role changes has a use for each role."""
    project = models.ForeignKey(Project, null=True, on_delete=models.SET_NULL, related_name="lane_uses")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="lane_uses")
    """The user who created the run, or asked for the preview."""
    borrowed_from = models.ForeignKey(Project, null=True, on_delete=models.SET_NULL, related_name="lent_lane_uses")
    """The project from whose unused share the lane was borrowed; null if the holder's own project was entitled to
    it."""
    price_per_hour = models.DecimalField(max_digits=12, decimal_places=4, null=True)
    """What the lane's GPUs cost together when it was allocated; null where none of them has a price."""
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)
    """When the lane was released; null while it is held."""

    class Meta:
        ordering = ["since", "pk"]
        indexes = [
            models.Index(fields=["project", "since"], name="lane_use_of_project"),
            GinIndex(fields=["gpus"], name="lane_use_of_gpu"),
            models.Index(fields=["pool", "until"], name="lane_use_of_pool"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["lane"], condition=models.Q(until=None), name="one_open_use_per_lane"),
            models.CheckConstraint(
                name="lane_use_ends_after_it_began",
                condition=models.Q(until=None) | models.Q(until__gte=models.F("since")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} for {self.run_id or self.test_id}"
