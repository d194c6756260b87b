"""Views of the runs list that users saved under names."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models import Project

MAX_VIEW_NAME_CHARS = 60


class SavedView(models.Model):
    """Filters, order, groups, columns and density of the runs list. A view is its user's own, or shared with a project,
    whose members all see it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="saved_views")
    """The project that it is shared with; null for the user's own."""
    name = models.CharField(max_length=MAX_VIEW_NAME_CHARS)
    query = models.JSONField(default=dict)
    """Parameters of `GET /runs:table` without the stretch."""
    columns = ArrayField(models.CharField(max_length=20), default=list)
    """Ids of the columns in view; empty for the usual ones."""
    is_dense = models.BooleanField(default=False)
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "project", "name"], name="saved_view_once", nulls_distinct=False),
        ]

    def __str__(self) -> str:
        return self.name
