"""What the planner keeps: plans by their inputs, and the costs that runs measured."""

from django.db import models
from django.utils import timezone

from runs.models.run_rows import Run


class CachedPlan(models.Model):
    """A plan, keyed by all of its inputs, so that it is not computed twice. See `runs.planning.plan_cache`."""

    key = models.CharField(max_length=64, primary_key=True)
    sections = models.JSONField()
    """The sections of the spec that the choice changes."""
    body = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now, db_index=True)


class MeasuredCosts(models.Model):
    """The costs of work that a run measured, as last reported. The planner uses them for runs of the same workload."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="measured_costs")
    devices = models.CharField(max_length=200)
    """The kinds of device that it ran on, separated by commas."""
    lane_devices = models.JSONField(default=dict)
    """By id of a lane that the run held when they were measured: its kind of device, where it is one of these."""
    num_batches = models.PositiveIntegerField()
    """Complete batches in which they were measured."""
    costs = models.JSONField()
    """`[{lane, kind, per_call, per_unit, observed_units}]`, as in `worker.contracts.events.WorkCost`."""
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["devices", "-updated_at"], name="costs_by_device")]
