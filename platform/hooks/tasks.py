"""Celery tasks of the webhooks: thin and idempotent, since they may be delivered twice or late."""

from celery import shared_task

from hooks import sending
from worker.contracts import task_names


@shared_task(name=task_names.SEND_WEBHOOKS)
def send_webhooks() -> int:
    """Send the messages that are due; returns how many were tried."""
    return sending.send_due()


@shared_task(name=task_names.FORGET_DELIVERIES)
def forget_deliveries() -> int:
    """Delete the deliveries of long ago; returns how many."""
    return sending.forget_old()
