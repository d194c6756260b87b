"""The jobs of tries: a lane for each, launched once, looked after until the lane is free again.

    queued ─► a lane is free: held, job submitted ─► (the job reports to `tries`) ─► job over: lane freed
       └────► none is free: waits, oldest first

Invariant: a try's job runs on the lane that it holds, and the lane is freed only when nothing of the job runs any more.
"""

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from fleet.selectors import tries_with_lanes
from fleet.services import allocate_for_try, release_try
from gallery.models import Try, TryState
from gallery.tries import LIVE, TIME_LIMIT, current_state, end
from runs.cluster import ClusterUnavailable, JobStatus
from runs.secrets import hash_secret, new_secret
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, PUBLIC_URL_VARIABLE, LaneGrant

logger = logging.getLogger(__name__)

ENTRYPOINT = "python -P -m worker.engine.try_prompts"
SUBMIT_PATIENCE = timedelta(seconds=30)
"""How long a launched job may be unknown to Ray: its code is being uploaded."""
WAITING = "waits for a free lane"


class JobGateway(Protocol):
    """What tries need of the cluster; `runs.cluster.RayCluster` is one. Every method raises `ClusterUnavailable`."""

    def submit(
        self, submission_id: str, env: Mapping[str, str], *, entrypoint: str, lane: LaneGrant | None
    ) -> None: ...

    def status(self, submission_id: str) -> JobStatus: ...

    def log_tail(self, submission_id: str) -> str: ...

    def stop(self, submission_id: str) -> None: ...


def job_name(try_id: UUID) -> str:
    return f"tandem-try-{try_id}"


def launch(*, try_id: UUID, gateway: JobGateway) -> bool:
    """Give a queued try a lane and submit its job.

    False when there was nothing to do, no lane is free (it waits), or the cluster was away (it failed).
    """
    code = new_secret()
    lane = _claim(try_id, code)
    if lane is None:
        return False
    env = {BOOTSTRAP_CODE_VARIABLE: f"{try_id}.{code}", PUBLIC_URL_VARIABLE: settings.TANDEM_PUBLIC_URL}
    try:
        gateway.submit(job_name(try_id), env, entrypoint=ENTRYPOINT, lane=lane)
    except ClusterUnavailable as error:
        # The lane stays held: the job may have arrived all the same. `watch` frees it.
        end(try_id, f"the job could not be submitted: {error}")
        return False
    return True


def watch(*, gateway: JobGateway) -> None:
    """One look at everything: free what is over, then start what waits, oldest first."""
    for try_id in tries_with_lanes():
        try:
            _look_after(try_id, gateway)
        except ClusterUnavailable as error:
            logger.warning("try %s: %s", try_id, error)
    waiting = Try.objects.filter(state=TryState.QUEUED, code_hash="", deadline__gt=timezone.now())
    for try_id in list(waiting.order_by("created_at").values_list("pk", flat=True)):
        launch(try_id=try_id, gateway=gateway)


@transaction.atomic
def _claim(try_id: UUID, code: str) -> LaneGrant | None:
    """The lane of a try that is this caller's to launch."""
    waiting = Try.objects.select_for_update().filter(pk=try_id, state=TryState.QUEUED, code_hash="")
    trial = waiting.filter(deadline__gt=timezone.now()).first()
    if trial is None:
        return None
    lane = allocate_for_try(try_id=try_id, run_id=trial.run_id)
    if lane is None:
        trial.detail = WAITING
    else:
        trial.code_hash, trial.detail, trial.deadline = hash_secret(code), "", timezone.now() + TIME_LIMIT
    trial.save(update_fields=["code_hash", "detail", "deadline"])
    return lane


def _look_after(try_id: UUID, gateway: JobGateway) -> None:
    name = job_name(try_id)
    status = gateway.status(name)
    # Read after asking: a job that is over has said before what it had to say.
    trial = Try.objects.filter(pk=try_id).first()
    is_live = trial is not None and current_state(trial)[0] in LIVE
    if not status.is_over:
        if not is_live:
            gateway.stop(name)
        return
    if trial is not None and is_live:
        launched_at = trial.deadline - TIME_LIMIT
        if status is JobStatus.UNKNOWN and timezone.now() - launched_at < SUBMIT_PATIENCE:
            return
        last_line = gateway.log_tail(name).strip().rpartition("\n")[2] or "it left no log"
        end(try_id, f"the job {status} before it was done: {last_line}")
    release_try(try_id)
