"""Celery tasks of the mirrors: thin and idempotent, since they may be delivered twice or late."""

from celery import shared_task

from mirrors import mirror_rounds
from worker.contracts import task_names


@shared_task(name=task_names.WRITE_MIRRORS)
def write_mirrors() -> int:
    """Write to mirrors what is due; returns the number of sessions."""
    return mirror_rounds.mirror_due()
