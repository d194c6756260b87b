"""The Celery task of the sweeps: thin and idempotent, since it may be delivered twice or late."""

from celery import shared_task

from sweeps.advance import advance_all
from worker.contracts import task_names


@shared_task(name=task_names.ADVANCE_SWEEPS)
def advance_sweeps() -> int:
    """Take the next step of every sweep; returns the number of runs that were created."""
    return advance_all()
