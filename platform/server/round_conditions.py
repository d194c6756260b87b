"""Whether a round would find anything to do, which the beat asks before it sends one.

A message to the Celery worker and the task that it begins take some 7 ms of a core, a look at the database 1 ms, and
most rounds of most installations find nothing. A condition may hold where there is nothing to do, never the reverse.
"""

from django.db import DatabaseError, InterfaceError, close_old_connections
from django.utils.module_loading import import_string

from worker.contracts import task_names

CONDITIONS = {
    task_names.DISPATCH_RUNS: "runs.lending.reclaiming.may_have_work",
    task_names.WATCH_PREVIEWS: "gallery.preview_jobs.may_have_work",
    task_names.WATCH_GPU_TESTS: "runs.pool.gpu_test_jobs.may_have_work",
    task_names.SEND_WEBHOOKS: "hooks.sending.may_have_work",
    task_names.ADVANCE_SWEEPS: "sweeps.advance.may_have_work",
    task_names.CARRY_OUT_DELETION: "retention.deletion_rounds.may_have_work",
}
"""By task: the function, by name, since apps are loaded after the Celery app."""


def may_find_work(task: str) -> bool:
    """Whether a round of `task` is to be sent; every round of a task without a condition is."""
    if task not in CONDITIONS:
        return True
    try:
        return bool(import_string(CONDITIONS[task])())
    except (DatabaseError, InterfaceError):
        # The task meets it, too: it fails, is counted, and its log says why.
        return True
    finally:
        close_old_connections()
