"""Node agents: who reports the nodes, and with which code and token."""

import uuid

from django.db import models
from django.utils import timezone


class NodeAgent(models.Model):
    """One start of the node agent. The newest one counts; reports of an older one are refused."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    created_at = models.DateTimeField(default=timezone.now)
    code_hash = models.CharField(max_length=64)
    """SHA-256 of its single-use code."""
    code_expires_at = models.DateTimeField()
    code_used_at = models.DateTimeField(null=True)
    token_hash = models.CharField(max_length=64, blank=True, default="")
    """SHA-256 of its bearer token; empty before the code is used."""
    head_address = models.CharField(max_length=200, blank=True, default="")
    """`host:port` by which further machines join the cluster."""
    reported_at = models.DateTimeField(null=True)
    """When its last report came."""

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"node agent {self.pk}"
