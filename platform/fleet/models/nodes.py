"""Nodes of the cluster and their GPUs: what they are by their own reports, and what was decided about them.

Invariant: rows are made by reports and never deleted by them, so that what comes back comes back with its history.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from fleet.health_rules import Health, Remedy
from fleet.models.allocation import Lane
from fleet.models.annotations import Annotated
from fleet.models.service_states import InService


class Node(InService, Annotated):
    name = models.SlugField(max_length=100, unique=True)
    ray_node_id = models.CharField(max_length=100, blank=True, default="")
    """Ray's id of the node; another one after each start of Ray there, empty before it was reported."""
    address = models.CharField(max_length=200, blank=True, default="")
    num_cores = models.PositiveIntegerField(null=True)
    memory_bytes = models.PositiveBigIntegerField(null=True)
    memory_used_bytes = models.PositiveBigIntegerField(null=True)
    load = models.FloatField(null=True)
    """Processes that ran or waited for a core, averaged over a minute."""
    object_store_bytes = models.PositiveBigIntegerField(null=True)
    """What Ray's object store may hold in shared memory; null while Ray has not said."""
    shm_free_bytes = models.PositiveBigIntegerField(null=True)
    """What was free of `/dev/shm`, in which that store lies."""
    spill_free_bytes = models.PositiveBigIntegerField(null=True)
    """What was free on the disk to which Ray moves objects that its store has no room for."""
    embeddings_room_bytes = models.PositiveBigIntegerField(null=True)
    """What embeddings of prompts may take on its disk, those included that are stored there."""
    in_cluster_at = models.DateTimeField(null=True)
    """When Ray last counted it as alive."""
    reported_at = models.DateTimeField(null=True)
    """When its own watcher was last heard."""
    reader_error = models.CharField(max_length=500, blank=True, default="")
    """Why its GPUs could not be read when it reported last."""
    gpus_per_lane = models.PositiveSmallIntegerField(default=1)
    """How many of its GPUs make a lane; lanes that are held change once they are free."""
    are_gpus_held = models.BooleanField(default=True)
    """Whether Ray gives its GPUs to Tandem; false as long as another program uses some of them."""
    lost_since = models.DateTimeField(null=True)
    """Since when Ray has not counted it as alive; null while it does."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Gpu(InService, Annotated):
    """One accelerator card of a node, or one MIG slice. It works for at most one lane."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="gpus")
    lane = models.ForeignKey(Lane, null=True, on_delete=models.SET_NULL, related_name="gpus")
    index = models.PositiveIntegerField()
    """Its index on the node, in the order of PCI addresses; MIG slices have that of their card."""
    uuid = models.CharField(max_length=100, blank=True, default="")
    """The UUID that its driver reports; empty until it has been read."""
    accelerator = models.CharField(max_length=100, blank=True, default="")
    """The card's product name, by which the planner finds its hardware profile; empty if unknown."""
    resource = models.CharField(max_length=120, blank=True, default="")
    """The node's custom Ray resource for this card; empty on nodes that others started."""
    identity = models.JSONField(default=dict)
    """`GpuIdentity`, as the node agent reported it; empty until then."""
    topology = models.JSONField(default=dict)
    """`GpuTopology`."""
    live = models.JSONField(default=dict)
    """`GpuLive` of the last report."""
    faults = models.JSONField(default=dict)
    """`GpuFaults` of the last report."""
    reported_at = models.DateTimeField(null=True)
    """When the last report that listed it came."""
    health = models.CharField(max_length=10, default=Health.HEALTHY.value)
    health_causes = ArrayField(models.CharField(max_length=120), default=list)
    """What ails it, the worst first; empty while it is healthy."""
    remedy = models.CharField(max_length=40, default=Remedy.NONE.value)
    """What its vendor recommends."""
    health_since = models.DateTimeField(default=timezone.now)
    faults_before = models.JSONField(default=dict)
    """`GpuFaults` as counted when it was last put into service, which are dealt with; empty for none."""
    throttled_by = ArrayField(models.CharField(max_length=100), default=list)
    """Why its clocks were reduced last."""
    throttled_at = models.DateTimeField(null=True)
    held_for = models.DateTimeField(null=True)
    """Since when the run that was last seen holding its lane has held it; null while none does. What follows is of that
    time."""
    idle_since = models.DateTimeField(null=True)
    """Since when it has done nothing for that run; null while it works, and where its use is unknown."""
    longest_idle_seconds = models.FloatField(default=0.0)
    """The longest time that it did nothing in between."""
    slow_factor = models.FloatField(null=True)
    """Its seconds for a unit of work ÷ the median of its peers', as the last run on it measured; null unless it is
    slower than they are."""
    slow_at_work = models.CharField(max_length=20, blank=True, default="")
    """The kind of that work."""
    lost_since = models.DateTimeField(null=True)
    """Since when its driver does not reach it; null while it does."""

    class Meta:
        ordering = ["node__name", "index", "uuid"]
        constraints = [
            models.UniqueConstraint(fields=["node", "index"], condition=models.Q(uuid=""), name="gpu_once_per_node"),
            models.UniqueConstraint(fields=["uuid"], condition=~models.Q(uuid=""), name="gpu_uuid_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The card's name in histories: its UUID, or `<node>/gpu-<index>` while that is unknown."""
        return self.uuid or f"{self.node.name}/gpu-{self.index}"


class HealthChange(models.Model):
    """One change of a GPU's health, for its history. The name is copied, because a history outlives what it is of."""

    gpu = models.ForeignKey(Gpu, null=True, on_delete=models.SET_NULL, related_name="health_changes")
    name = models.CharField(max_length=220)
    health = models.CharField(max_length=10)
    causes = ArrayField(models.CharField(max_length=120), default=list)
    remedy = models.CharField(max_length=40)
    faults = models.JSONField()
    """`GpuFaults` at that moment, with codes and counts."""
    run_id = models.UUIDField(null=True)
    """The run that held its lane."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.name}: {self.health}"
