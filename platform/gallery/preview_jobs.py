"""The jobs of previews: each gets a lane, is launched once, and is watched until the lane is free again.

    queued ─► a lane is free: held, job submitted ─► (the job reports to `previews`) ─► job over: lane freed
       └────► none is free: waits, oldest first

Invariant: a preview's job runs on the lane that it holds, and the lane is released only once the job is over.
"""

import logging
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.secrets import hash_secret, new_secret
from fleet.selectors import pool_or_default, previews_with_lanes
from fleet.services import LaneHolder, allocate_for_preview, release_preview
from gallery.models import Preview, PreviewState
from gallery.previews import LIVE, TIME_LIMIT, current_state, end, launched_at
from runs.cluster import ClusterGateway, ClusterUnavailable, JobStatus
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, PUBLIC_URL_VARIABLE
from worker.contracts.lanes import LaneGrant

logger = logging.getLogger(__name__)

ENTRYPOINT = "python -P -m worker.engine.preview"
SUBMIT_TIMEOUT = timedelta(seconds=30)
"""How long a launched job may be unknown to Ray, while its code is being uploaded."""
WAITING = "waits for a free lane"


def job_name(preview_id: UUID) -> str:
    return f"tandem-preview-{preview_id}"


def launch(*, preview_id: UUID, gateway: ClusterGateway) -> bool:
    """Allocate a lane to a queued preview and submit its job.

    False if the preview is not queued, if no lane is free (it waits), or if the cluster could not be reached (it
    fails).
    """
    code = new_secret()
    lane = _claim(preview_id, code)
    if lane is None:
        return False
    env = {BOOTSTRAP_CODE_VARIABLE: f"{preview_id}.{code}", PUBLIC_URL_VARIABLE: settings.TANDEM_PUBLIC_URL}
    try:
        gateway.submit(job_name(preview_id), env, entrypoint=ENTRYPOINT, lane=lane)
    except ClusterUnavailable as error:
        # The lane stays held, because the job may have been submitted nevertheless. `watch` releases it.
        end(preview_id, f"the job could not be submitted: {error}")
        return False
    return True


def may_have_work() -> bool:
    """Whether a preview waits or holds a lane."""
    return _waiting().exists() or bool(previews_with_lanes())


def watch(*, gateway: ClusterGateway) -> None:
    """Release the lanes of jobs that are over, then launch waiting previews, oldest first."""
    for preview_id in previews_with_lanes():
        try:
            _watch_job(preview_id, gateway)
        except ClusterUnavailable as error:
            logger.warning("preview %s: %s", preview_id, error)
    for preview_id in list(_waiting().order_by("created_at").values_list("pk", flat=True)):
        launch(preview_id=preview_id, gateway=gateway)


def _waiting() -> QuerySet[Preview]:
    return Preview.objects.filter(state=PreviewState.QUEUED, code_hash="", deadline__gt=timezone.now())


@transaction.atomic
def _claim(preview_id: UUID, code: str) -> LaneGrant | None:
    """The lane of a queued preview, claimed for launch by this caller; None if there is none."""
    waiting = Preview.objects.select_for_update().filter(pk=preview_id, state=PreviewState.QUEUED, code_hash="")
    preview = waiting.filter(deadline__gt=timezone.now()).first()
    if preview is None:
        return None
    lane = allocate_for_preview(
        LaneHolder(
            run_id=preview.run_id,
            preview_id=preview_id,
            project_id=preview.run.project_id,
            user_id=preview.created_by_id,
        ),
        pool_or_default(preview.run.pool),
    )
    if lane is None:
        preview.detail = WAITING
    else:
        preview.code_hash, preview.detail, preview.deadline = hash_secret(code), "", timezone.now() + TIME_LIMIT
    preview.save(update_fields=["code_hash", "detail", "deadline"])
    return lane


def _watch_job(preview_id: UUID, gateway: ClusterGateway) -> None:
    name = job_name(preview_id)
    status = gateway.status(name)
    # The row is read after Ray was asked: a job that is over has sent its last report before.
    preview = Preview.objects.filter(pk=preview_id).first()
    is_live = preview is not None and current_state(preview)[0] in LIVE
    if not status.is_over:
        if not is_live:
            gateway.stop(name)
        return
    if preview is not None and is_live:
        since = launched_at(preview)
        if status is JobStatus.UNKNOWN and since is not None and timezone.now() - since < SUBMIT_TIMEOUT:
            return
        last_line = gateway.log_tail(name).strip().rpartition("\n")[2] or "it left no log"
        end(preview_id, f"the job {status} before it was done: {last_line}")
    release_preview(preview_id)
