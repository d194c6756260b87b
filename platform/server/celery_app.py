"""The Celery app: broker, queues and the beat schedule. Tasks are defined in the `tasks.py` of their apps."""

import time
from datetime import timedelta
from importlib import import_module
from typing import Any

from celery import Celery
from celery.signals import task_postrun, task_prerun
from django.conf import settings

from analysis.prometheus.task_counts import count_task
from audit.request_context import RequestContext, adopt
from server.beat_thread import add_beat_thread
from worker.contracts import task_names

DISPATCH_EVERY_SECONDS = 2.0
RECONCILE_EVERY_SECONDS = 4.0
"""Seconds between two rounds. A lost driver must be noticed within 15 s: the heartbeat's age limit plus one round."""

WATCH_PREVIEWS_EVERY_SECONDS = 3.0
LEND_LANES_EVERY_SECONDS = 10.0
"""Seconds between two rounds of lending: batches take longer, and costs change from batch to batch alone."""
KEEP_UP_POOL_EVERY_SECONDS = 5.0
WATCH_NODES_EVERY_SECONDS = 5.0
"""Seconds between two looks at the node agent, far less than it may be silent."""
WATCH_GPU_TESTS_EVERY_SECONDS = 3.0
SEND_WEBHOOKS_EVERY_SECONDS = 2.0
ADVANCE_SWEEPS_EVERY_SECONDS = 3.0
"""Less than a batch of the demo takes, so that a run that is to be pruned trains on for one batch at most."""
FORGET_DELIVERIES_EVERY_SECONDS = 3600.0
DELETE_DUE_EVERY_SECONDS = 3600.0
CARRY_OUT_DELETION_EVERY_SECONDS = 5.0
"""Of a deletion that an admin asked for: about the pause between two rounds, in which other tasks have the worker."""
WRITE_MIRRORS_EVERY_SECONDS = 10.0
"""Far less than the minute between two sessions of a run."""


def _every(seconds: float, task: str) -> dict[str, object]:
    # A round expires before the next one, so that a restarted worker finds no backlog of stale rounds.
    return {"task": task, "schedule": timedelta(seconds=seconds), "options": {"expires": seconds}}


app = Celery("tandem")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
add_beat_thread(app)
app.conf.update(
    task_default_queue="runs",
    task_routes={"tandem.runs.*": {"queue": "runs"}, "tandem.gallery.*": {"queue": "gallery"}},
    task_ignore_result=True,
    task_acks_late=True,
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    # A missing socket must fail the request, not block it.
    broker_transport_options={"visibility_timeout": 3600, "socket_connect_timeout": 5, "global_keyprefix": "tandem:"},
    task_publish_retry_policy={"max_retries": 3, "interval_start": 0.1, "interval_step": 0.3},
    beat_schedule={
        "dispatch queued runs": _every(DISPATCH_EVERY_SECONDS, task_names.DISPATCH_RUNS),
        "reconcile runs with the cluster": _every(RECONCILE_EVERY_SECONDS, task_names.RECONCILE_RUNS),
        "watch previews": _every(WATCH_PREVIEWS_EVERY_SECONDS, task_names.WATCH_PREVIEWS),
        "lend idle lanes": _every(LEND_LANES_EVERY_SECONDS, task_names.LEND_LANES),
        "keep up the pool": _every(KEEP_UP_POOL_EVERY_SECONDS, task_names.KEEP_UP_POOL),
        "watch the node agent": _every(WATCH_NODES_EVERY_SECONDS, task_names.WATCH_NODES),
        "watch tests of GPUs": _every(WATCH_GPU_TESTS_EVERY_SECONDS, task_names.WATCH_GPU_TESTS),
        "send webhooks": _every(SEND_WEBHOOKS_EVERY_SECONDS, task_names.SEND_WEBHOOKS),
        "advance sweeps": _every(ADVANCE_SWEEPS_EVERY_SECONDS, task_names.ADVANCE_SWEEPS),
        "forget old deliveries": _every(FORGET_DELIVERIES_EVERY_SECONDS, task_names.FORGET_DELIVERIES),
        "carry out a deletion": _every(CARRY_OUT_DELETION_EVERY_SECONDS, task_names.CARRY_OUT_DELETION),
        "write mirrors": _every(WRITE_MIRRORS_EVERY_SECONDS, task_names.WRITE_MIRRORS),
    },
)
if settings.TANDEM_RETENTION:
    app.conf.beat_schedule["delete what is past its days"] = _every(DELETE_DUE_EVERY_SECONDS, task_names.DELETE_DUE)


def traced_requests() -> Any:
    """The module, which loads OpenTelemetry."""
    return import_module("server.traced_requests")


@task_prerun.connect
def adopt_request(task: Any, **_: Any) -> None:
    """Set the request that enqueued the task as the current one; none for tasks of the beat."""
    context = RequestContext.from_headers(task.request.headers or {})
    adopt(traced_requests().begin_task(task, context) if settings.TANDEM_TRACES else context)
    task.request.began = time.perf_counter()


@task_postrun.connect
def count_ended_task(task: Any, state: str | None = None, **_: Any) -> None:
    """Count the task for `GET /api/v1/metrics`."""
    if settings.TANDEM_TRACES:
        traced_requests().end_task(task, state)
    count_task(task.name, (state or "unknown").lower(), time.perf_counter() - task.request.began)
