"""Webhooks, and what they were to tell: each delivery with all its tries."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Project
from hooks.hook_events import HookEvent

MAX_ADDRESS_CHARS = 2000
"""Of an address: servers and proxies refuse longer ones."""
MAX_ANSWER_CHARS = 500
"""Of an answer that is kept: enough for what is wrong."""


class MessageForm(models.TextChoices):
    """In which form messages are sent."""

    STANDARD = "standard"
    """Signed JSON, as standardwebhooks.com describes."""
    SLACK = "slack"
    DISCORD = "discord"
    EMAIL = "email"


class Webhook(models.Model):
    """Where to tell of which events."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.CASCADE, related_name="webhooks")
    """The project whose events it tells of; null for those of the pool."""
    name = models.CharField(max_length=100)
    form = models.CharField(max_length=10, choices=MessageForm.choices, default=MessageForm.STANDARD)
    address = models.CharField(max_length=MAX_ADDRESS_CHARS)
    """A URL, or an e-mail address."""
    events = ArrayField(models.CharField(max_length=30, choices=HookEvent.choices))
    encrypted = models.TextField()
    """The secret that signs its messages."""
    former_encrypted = models.TextField(blank=True, default="")
    """The secret before it, which signs them too for a while; empty where there is none."""
    former_until = models.DateTimeField(null=True, blank=True)
    """Until when it does."""
    is_active = models.BooleanField(default=True)
    off_reason = models.CharField(max_length=300, blank=True, default="")
    """Why it was switched off by itself; empty where a user did it."""
    failing_since = models.DateTimeField(null=True, blank=True)
    """Since when nothing has got through; null where the last try did."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="webhook_name_once", nulls_distinct=False),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def signing(self) -> list[str]:
        """The encrypted secrets that sign a message now, the newest first."""
        is_former_good = self.former_until is not None and timezone.now() < self.former_until
        return [self.encrypted, *([self.former_encrypted] if is_former_good else [])]


class DeliveryState(models.TextChoices):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(models.Model):
    """One message of one webhook, written in the transaction of what it tells of."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=30)
    payload = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    tries_left = models.PositiveSmallIntegerField()
    next_try_at = models.DateTimeField(null=True, default=timezone.now)
    """When it is due; null where it is not tried again by itself."""

    class Meta:
        ordering = ["-created_at"]
        indexes: ClassVar = [
            models.Index(fields=["next_try_at"], condition=Q(next_try_at__isnull=False), name="delivery_due"),
            models.Index(fields=["webhook", "-created_at"], name="delivery_of_webhook"),
            models.Index(fields=["created_at"], name="delivery_by_time"),
        ]

    def __str__(self) -> str:
        return self.message_id

    @property
    def message_id(self) -> str:
        """The same in every try, so that receivers can tell a repeat."""
        return f"msg_{self.pk.hex}"


class DeliveryTry(models.Model):
    """What became of sending a message once."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="tries")
    at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True)
    """Of the answer; null where none came, and for e-mail."""
    milliseconds = models.PositiveIntegerField()
    answer = models.CharField(max_length=MAX_ANSWER_CHARS, blank=True, default="")
    """The beginning of the answer, or why there is none."""

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.delivery} at {self.at:%H:%M:%S}"
