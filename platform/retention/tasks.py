"""The Celery task of retention, which the beat starts where `TANDEM_RETENTION` is on."""

from celery import shared_task

from retention.services import delete_due
from worker.contracts import task_names

MAX_SECONDS = 60.0
"""Of one round, so that other tasks of the worker are not held up; the next one goes on."""


@shared_task(name=task_names.DELETE_DUE)
def delete_what_is_due() -> int:
    """Delete what is past its days; returns of how many runs, by kind."""
    return len(delete_due(actor="retention", max_seconds=MAX_SECONDS))
