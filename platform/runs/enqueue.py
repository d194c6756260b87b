"""Enqueues Celery tasks by name, once the current transaction has committed."""

from celery import current_app
from django.db import transaction

from audit.request_context import current_request


def enqueue_on_commit(task_name: str, *args: str | int) -> None:
    """Enqueue a task of `worker.contracts.task_names` after commit.

    An unavailable broker must not fail a request whose work is committed: the failure is logged, and the beat's next
    round finds the work in the database. Tasks are therefore idempotent. The message carries the request that enqueued
    it.
    """

    headers = current_request().headers()

    # Not a `partial`: Django names the function that failed, and a partial has no name.
    def send() -> None:
        current_app.send_task(task_name, args=args, headers=headers)

    transaction.on_commit(send, robust=True)
