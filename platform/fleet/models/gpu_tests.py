"""Tests that GPUs must pass before they take work again."""

import uuid

from django.db import models
from django.utils import timezone

from fleet.models.nodes import Gpu


class GpuTestState(models.TextChoices):
    QUEUED = "queued"
    """Waits until no run holds the GPU's lane and its node can be reached."""
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"


class GpuTest(models.Model):
    """One test of one GPU: a Ray job of its own, which reports with a single-use code and a token like a run's."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    gpu = models.ForeignKey(Gpu, on_delete=models.CASCADE, related_name="tests")
    state = models.CharField(max_length=10, choices=GpuTestState.choices, default=GpuTestState.QUEUED.value)
    requested_by = models.CharField(max_length=150)
    num_repeats = models.PositiveIntegerField(default=0)
    """How many tests before this one it repeats, because the cluster lost their jobs."""
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    """When its job was submitted."""
    ended_at = models.DateTimeField(null=True)
    peer = models.ForeignKey(Gpu, null=True, on_delete=models.SET_NULL, related_name="+")
    """The other GPU of its node that the all-reduce is with, held for the test; null where none was free."""
    faults_before = models.JSONField(default=dict)
    """`GpuFaults` of the GPU as counted when the test was asked for; what is new when it ends came during the test."""
    steps = models.JSONField(default=list)
    """`GpuTestStep` of each step that has ended, in order."""
    reason = models.CharField(max_length=500, blank=True, default="")
    """Why it failed, or what it waits for."""
    code_hash = models.CharField(max_length=64, blank=True, default="")
    """SHA-256 of its single-use code."""
    code_expires_at = models.DateTimeField(null=True)
    code_used_at = models.DateTimeField(null=True)
    token_hash = models.CharField(max_length=64, blank=True, default="")
    """SHA-256 of its bearer token; empty before the code is used."""

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["gpu"], condition=models.Q(ended_at=None), name="one_open_test_per_gpu")
        ]

    def __str__(self) -> str:
        return f"test of {self.gpu}"
