"""Makes, changes and tests webhooks. A project's are its owners' to manage, the pool's its admins'."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from accounts.access import TO_MANAGE_WEBHOOKS, require_pool_admin, require_role
from accounts.encryption import encrypt
from accounts.models import Project, User
from audit.record import record
from hooks.emails import NO_SERVER
from hooks.hook_events import POOL_EVENTS, PROJECT_EVENTS, TEST, HookEvent
from hooks.http_posts import SETTING
from hooks.models import Delivery, DeliveryState, MessageForm, Webhook
from hooks.outbox import payload
from hooks.sending import give_up_waiting
from hooks.signatures import new_signing_secret
from worker.outbound.outbound_guard import url_problem

OVERLAP_HOURS = 24
"""For how long two secrets sign by default: a day in which receivers are changed."""
MAX_OVERLAP_HOURS = 168
"""A week: a secret that is to go should not stay for longer."""
AUDITED = ("name", "form", "events", "is_active")
"""What the audit log tells; an address may hold a token."""


@transaction.atomic
def create_webhook(
    *,
    user: User,
    project: Project | None,
    name: str,
    address: str,
    events: Collection[HookEvent],
    form: MessageForm = MessageForm.STANDARD,
) -> tuple[Webhook, str]:
    """The webhook, and the secret that signs its messages, which is never shown again. `project`: `None` for the
    pool's. Raises `PermissionDenied`, `ValidationError` by field."""
    _require_manager(user, project)
    secret = new_signing_secret()
    webhook = Webhook(project=project, name=name, form=form, address=address, created_by=user)
    webhook.events, webhook.encrypted = _in_order(events), encrypt(secret)
    _check_and_save(webhook)
    record("webhook.create", webhook, user=user, project_id=webhook.project_id, **_audited(webhook))
    return webhook, secret


@transaction.atomic
def change_webhook(*, user: User, webhook: Webhook, **changes: Any) -> Webhook:
    """Write the fields given, of `name`, `address`, `events` and `is_active`. Switched on again, it begins anew;
    switched off, its waiting messages are given up. Its form stays: the secret of another one was never shown."""
    _require_manager(user, webhook.project)
    # Read again, lest it write back a secret that was rotated meanwhile.
    webhook = Webhook.objects.select_for_update().get(pk=webhook.pk)
    if "events" in changes:
        changes["events"] = _in_order(changes["events"])
    for field, value in changes.items():
        setattr(webhook, field, value)
    if "is_active" in changes:
        webhook.off_reason, webhook.failing_since = "", None
    _check_and_save(webhook)
    if not webhook.is_active:
        give_up_waiting(webhook)
    record("webhook.change", webhook, user=user, project_id=webhook.project_id, **_audited(webhook))
    return webhook


@transaction.atomic
def rotate_secret(*, user: User, webhook: Webhook, overlap_hours: int = OVERLAP_HOURS) -> tuple[Webhook, str]:
    """The webhook, and a new secret, which is never shown again. For `overlap_hours` the one before signs too, so that
    receivers can be told one by one; 0 ends it at once, as for one that has leaked. Of three, the oldest signs no more.
    Raises `ValidationError` by field."""
    _require_manager(user, webhook.project)
    if webhook.form != MessageForm.STANDARD:
        raise ValidationError({"form": f"`form` must be standard to have a secret that is read, got {webhook.form}"})
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise ValidationError(
            {"overlap_hours": f"`overlap_hours` must be from 0 to {MAX_OVERLAP_HOURS}, got {overlap_hours}"}
        )
    locked, secret = Webhook.objects.select_for_update().get(pk=webhook.pk), new_signing_secret()
    locked.former_encrypted, locked.former_until = "", None
    if overlap_hours:
        locked.former_encrypted = locked.encrypted
        locked.former_until = timezone.now() + timedelta(hours=overlap_hours)
    locked.encrypted = encrypt(secret)
    locked.save(update_fields=["encrypted", "former_encrypted", "former_until"])
    record("webhook.rotate_secret", locked, user=user, project_id=locked.project_id, overlap_hours=overlap_hours)
    return locked, secret


@transaction.atomic
def delete_webhook(*, user: User, webhook: Webhook) -> None:
    """Delete the webhook with its deliveries."""
    _require_manager(user, webhook.project)
    record("webhook.delete", webhook, user=user, project_id=webhook.project_id)
    webhook.delete()


@transaction.atomic
def send_test(*, user: User, webhook: Webhook) -> Delivery:
    """Send a message that tells of nothing, once, even where the webhook is switched off."""
    _require_manager(user, webhook.project)
    text = f"Test of the webhook {webhook.name}, asked for by {user.username}."
    made = payload(TEST, text=text, path="/projects", project=webhook.project)
    record("webhook.test", webhook, user=user, project_id=webhook.project_id)
    return Delivery.objects.create(webhook=webhook, event=TEST, payload=made, tries_left=1)


@transaction.atomic
def redeliver(*, user: User, delivery: Delivery) -> Delivery:
    """Send the message again at once, under its id: once, or before the tries that it still has."""
    webhook = delivery.webhook
    _require_manager(user, webhook.project)
    row = Delivery.objects.select_for_update().get(pk=delivery.pk)
    if row.state != DeliveryState.WAITING:
        row.tries_left = 1
    row.state, row.next_try_at = DeliveryState.WAITING, timezone.now()
    row.save(update_fields=["tries_left", "state", "next_try_at"])
    record("webhook.redeliver", webhook, user=user, project_id=webhook.project_id, message=row.message_id)
    return row


def _require_manager(user: User, project: Project | None) -> None:
    if project is None:
        require_pool_admin(user)
    else:
        require_role(user, project, TO_MANAGE_WEBHOOKS)


def _check_and_save(webhook: Webhook) -> None:
    webhook.name = webhook.name.strip()
    webhook.address = webhook.address.strip()
    webhook.full_clean()
    if problem := _address_problem(webhook):
        raise ValidationError({"address": problem})
    may = POOL_EVENTS if webhook.project_id is None else PROJECT_EVENTS
    if others := [event for event in webhook.events if event not in may]:
        whose = "the pool" if webhook.project_id is None else "a project"
        raise ValidationError({"events": f"`events` of {whose} must be of {', '.join(sorted(may))}, got {others[0]}"})
    webhook.save()


def _address_problem(webhook: Webhook) -> str | None:
    if webhook.form != MessageForm.EMAIL:
        problem = url_problem(webhook.address, allowed_hosts=settings.TANDEM_WEBHOOK_HOSTS, setting=SETTING)
        return problem and f"`address` {problem}"
    if not settings.TANDEM_SENDS_EMAIL:
        return NO_SERVER
    try:
        validate_email(webhook.address)
    except ValidationError:
        return f"`address` must be an e-mail address, got {webhook.address[:80]}"
    return None


def _in_order(events: Collection[HookEvent]) -> list[str]:
    chosen = {HookEvent(event) for event in events}
    return [event.value for event in HookEvent if event in chosen]


def _audited(webhook: Webhook) -> dict[str, Any]:
    return {field: getattr(webhook, field) for field in AUDITED}
