"""Webhooks for those who manage them: their addresses are secrets, of Slack and Discord above all."""

from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from accounts.access import TO_MANAGE_WEBHOOKS, Actor, NotVisible, is_pool_admin, projects_with_role
from hooks.models import Delivery, DeliveryTry, Webhook


def manageable_webhooks(user: Actor) -> QuerySet[Webhook]:
    """Those of the projects that `user` owns, and those of the pool for pool admins."""
    mine = Q(project__in=projects_with_role(user, TO_MANAGE_WEBHOOKS))
    if is_pool_admin(user):
        mine |= Q(project=None)
    return Webhook.objects.filter(mine)


def get_webhook(user: Actor, webhook_id: UUID) -> Webhook:
    """Raises `NotVisible`."""
    webhook = manageable_webhooks(user).filter(pk=webhook_id).first()
    if webhook is None:
        raise NotVisible("no such webhook among those that you manage")
    return webhook


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    """With their tries."""
    tries = Prefetch("tries", queryset=DeliveryTry.objects.order_by("at", "pk"))
    return Delivery.objects.filter(webhook=webhook).prefetch_related(tries)


def get_delivery(webhook: Webhook, delivery_id: UUID) -> Delivery:
    """Raises `NotVisible`."""
    delivery = deliveries_of(webhook).filter(pk=delivery_id).first()
    if delivery is None:
        raise NotVisible("no such delivery of this webhook")
    return delivery
