"""Prompt sets: the prompts a user uploaded to a project. Base models and presets are files, not rows."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from accounts.models import Project


class PromptSet(models.Model):
    """Immutable once made, so that a run's spec keeps meaning what it meant."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="prompt_sets")
    name = models.CharField(max_length=100)
    prompts = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="prompt_set_name_once_per_project"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def num_prompts(self) -> int:
        return len(self.prompts)
