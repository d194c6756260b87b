"""Celery tasks, enqueued by name and only once the transaction that asked for them is committed."""

from celery import current_app
from django.db import transaction

from audit.request_context import current_request


def enqueue_on_commit(task_name: str, *args: str | int) -> None:
    """Enqueue a task of `worker.contracts.task_names` after commit.

    A broker that is away must not undo what was committed: the failure is logged, and the beat's next tick finds the
    work again in the database. Tasks are therefore idempotent. The task knows the request that asked for it.
    """

    headers = current_request().headers()

    # Not a `partial`: Django names the function that failed, and a partial has no name.
    def send() -> None:
        current_app.send_task(task_name, args=args, headers=headers)

    transaction.on_commit(send, robust=True)
