"""Writes what webhooks have to tell: services call `announce` inside the transaction of what happened.

Invariant: a message stands in the database if and only if what it tells of does; `hooks.sending` finds it there.
"""

from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from accounts.models import Project
from hooks.hook_events import POOL_EVENTS, HookEvent
from hooks.models import Delivery, Webhook
from hooks.retries import MAX_TRIES


def announce(event: HookEvent, *, text: str, path: str, project: Project | None = None, **data: Any) -> None:
    """Tell the webhooks of `project`, and those of the pool where the event is one of theirs.

    `text` is the event in one sentence, `path` the page that shows more, `data` plain JSON values for machines.
    """
    wanted = Q(project=project) if project is not None else Q(pk__in=[])
    if event in POOL_EVENTS:
        wanted |= Q(project=None)
    webhooks = Webhook.objects.filter(wanted, is_active=True, events__contains=[event.value])
    made = payload(event.value, text=text, path=path, project=project, **data)
    Delivery.objects.bulk_create(
        Delivery(webhook=webhook, event=event.value, payload=made, tries_left=MAX_TRIES) for webhook in webhooks
    )


def payload(event: str, *, text: str, path: str, project: Project | None, **data: Any) -> dict[str, Any]:
    """The message as the standard form sends it."""
    told: dict[str, Any] = {"text": text, "url": f"{settings.TANDEM_PUBLIC_URL}{path}", **data}
    if project is not None:
        told["project"] = {"id": str(project.pk), "name": project.name}
    return {"type": event, "timestamp": timezone.now().isoformat(), "data": told}
