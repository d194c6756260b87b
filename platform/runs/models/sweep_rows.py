"""A sweep, its points, the runs that repeat each point with several seeds, and what points reported at rungs.

`sweeps` decides about them; a run finds its sweep here.
"""

import uuid
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Project
from runs.models.run_rows import Run

MAX_SWEEP_NAME_CHARS = 90
"""So that the names of its runs, which add a point and a seed, have room in theirs."""


MAX_FIELD_PATH_CHARS = 100
"""Of a setting's dotted path: twice the longest of a spec."""


class SweepState(models.TextChoices):
    RUNNING = "running"
    STOPPING = "stopping"
    """Its runs are ending, because a user stopped it."""
    STOPPED = "stopped"
    COMPLETED = "completed"


class Sweep(models.Model):
    """What a user asked for, and where it stands."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sweeps")
    name = models.CharField(max_length=MAX_SWEEP_NAME_CHARS)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    """In whose name its runs are created."""
    created_at = models.DateTimeField(default=timezone.now)
    parent = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    """The run that it was made from; null for none."""
    plan = models.JSONField()
    """The plain JSON of `sweeps.sweep_plan.SweepPlan`."""
    fields = ArrayField(models.CharField(max_length=MAX_FIELD_PATH_CHARS))
    """The swept settings in the order in which they were given, which a column of JSON does not keep."""
    num_invalid_draws = models.PositiveIntegerField(default=0)
    """Random draws that no run could be created from, and which others took the place of."""
    invalid_draw = models.TextField(blank=True, default="")
    """The first of them, with why."""
    state = models.CharField(max_length=10, choices=SweepState.choices, default=SweepState.RUNNING)
    reason = models.TextField(blank=True, default="")
    """Why it starts no more runs; empty while it does."""
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes: ClassVar = [
            models.Index(fields=["project", "-created_at"], name="sweep_list"),
            models.Index(fields=["state"], condition=Q(ended_at=None), name="sweep_at_work"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="sweep_ends_in_an_end_state",
                condition=Q(ended_at=None, state__in=["running", "stopping"])
                | Q(ended_at__isnull=False, state__in=["stopped", "completed"]),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SweepPoint(models.Model):
    """One combination of settings."""

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="points")
    number = models.PositiveIntegerField()
    """From 1."""
    values = models.JSONField()
    """The swept settings, by dotted path."""

    class Meta:
        ordering = ["number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["sweep", "number"], name="sweep_point_once")]


class SweepRun(models.Model):
    """A point with one seed: the place of one run, made with the sweep, filled when the run is created."""

    point = models.ForeignKey(SweepPoint, on_delete=models.CASCADE, related_name="places")
    seed = models.PositiveBigIntegerField()
    run = models.OneToOneField(Run, null=True, on_delete=models.SET_NULL, related_name="sweep_place")
    made_run = models.UUIDField(null=True)
    """Id of the run that was created, also once it is deleted: the hours of its lanes count on."""
    filled_at = models.DateTimeField(null=True)
    """When the run was created, or could not be; null while it waits. A run that was deleted since is not made
    again."""
    problem = models.TextField(blank=True, default="")
    """Why no run could be created; empty otherwise."""

    class Meta:
        ordering = ["point__number", "seed"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["point", "seed"], name="sweep_seed_once_per_point")]


class RungReport(models.Model):
    """What a point reported at a rung, and what the pruner said. Appended in the order in which points were judged,
    which the pruner's answers depend on."""

    point = models.ForeignKey(SweepPoint, on_delete=models.CASCADE, related_name="reports")
    num_samples = models.PositiveBigIntegerField()
    """The rung."""
    value = models.FloatField()
    """Mean of the objective over the point's seeds."""
    is_pruned = models.BooleanField()
    reason = models.TextField(blank=True, default="")
    """Why it was pruned, in a sentence; empty where it goes on."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["point", "num_samples"], name="one_report_per_rung")]
