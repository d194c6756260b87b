"""The Celery tasks of retention: one that the beat starts where `TANDEM_RETENTION` is on, and one for what an admin
asked for."""

from celery import shared_task

from retention.deletion_rounds import carry_out
from retention.services import delete_due
from worker.contracts import task_names

MAX_SECONDS = 60.0
"""Of one round, so that other tasks of the worker are not held up; the next one goes on."""


@shared_task(name=task_names.DELETE_DUE)
def delete_what_is_due() -> int:
    """Delete what is past its days; returns of how many runs, by kind."""
    return len(delete_due(actor="retention", max_seconds=MAX_SECONDS))


@shared_task(name=task_names.CARRY_OUT_DELETION)
def carry_out_deletion() -> bool:
    """Go on with the deletion that an admin asked for; returns whether there is one to go on with."""
    return carry_out()
