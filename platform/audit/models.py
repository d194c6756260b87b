"""The audit log: one row per service call that changed something for somebody.

Invariant: rows are only ever appended. Names of users, projects and objects are copied into the row, so that it stays
true when they are renamed or deleted.
"""

from typing import Any, NoReturn

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import timezone


class AppendOnlyError(Exception):
    """Something tried to change or delete a row of the audit log."""


class AppendOnlyQuerySet(models.QuerySet["AuditEntry"]):
    """Refuses updates and deletions."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError("the audit log is only appended to: its rows are never changed")

    def delete(self) -> NoReturn:
        raise AppendOnlyError("the audit log is only appended to: its rows are never deleted")


class AuditEntry(models.Model):
    at = models.DateTimeField(default=timezone.now)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    """The user who asked for it. Without a constraint, so that the row stays as it is when the user is deleted."""
    actor = models.CharField(max_length=150)
    """The user's name at that time, or the command that acted."""
    by_service_account = models.BooleanField(default=False)
    """Whether a script's account asked for it, and no person."""
    request_id = models.CharField(max_length=64, blank=True, default="")
    """The request's `X-Request-ID`; empty where no request asked for it."""
    token_key = models.CharField(max_length=25, blank=True, default="")
    """First characters of the API token that the request carried; empty for a browser's session."""
    action = models.CharField(max_length=60)
    """What was done, as `<object>.<verb>`: `run.create`, `node.drain`."""
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=64)
    object_name = models.CharField(max_length=200, blank=True, default="")
    """The object's name at that time."""
    project_id = models.UUIDField(null=True)
    """The project that the object belongs to; null for objects without one, such as nodes."""
    changes = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    """The arguments of the call, by field; never a secret's value."""

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["-at"], name="audit_by_time"),
            models.Index(fields=["object_type", "object_id"], name="audit_of_object"),
            models.Index(fields=["project_id", "-at"], name="audit_of_project"),
            models.Index(fields=["request_id"], name="audit_of_request"),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.object_name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Append the row. Raises `AppendOnlyError` for one that is in the log already."""
        if not self._state.adding:
            raise AppendOnlyError("the audit log is only appended to: its rows are never changed")
        super().save(*args, **{**kwargs, "force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Always raises `AppendOnlyError`."""
        raise AppendOnlyError("the audit log is only appended to: its rows are never deleted")
