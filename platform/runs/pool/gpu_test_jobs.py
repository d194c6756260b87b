"""The jobs of tests of GPUs: each is submitted once its GPU's lane is free, and watched until its lanes are free again.

    queued ─► nothing in its way: lanes held, job submitted ─► (the job reports) ─► job over: lanes freed
       └────► waits, with a reason

A job that never asked what to do says nothing about the GPU, so its test is repeated; one that began and did not report
its end has failed.
Invariant: a test's job runs on the lanes that it holds, and they are released only once the job is over.
"""

import logging
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from accounts.secrets import new_secret
from fleet.health.gpu_test_lanes import claim
from fleet.health.gpu_test_reports import CODE_LIFETIME
from fleet.health.gpu_tests import end_test, repeat_test, steps_of
from fleet.models import GpuTest, GpuTestState, ServiceState
from fleet.selectors import gpu_tests_with_lanes
from fleet.services import release_test
from runs.cluster import ClusterGateway, ClusterUnavailable, JobStatus
from worker.contracts.gpu_tests import MAX_TEST_SECONDS
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, PUBLIC_URL_VARIABLE

logger = logging.getLogger(__name__)

ENTRYPOINT = "python -P -m worker.engine.gpu_test"
SUBMIT_TIMEOUT = timedelta(seconds=30)
"""How long a submitted job may be unknown to Ray, while its code is being uploaded."""
TIME_LIMIT = timedelta(seconds=MAX_TEST_SECONDS)
MAX_LOG_CHARS = 400
"""Of the end of a job's log, in the reason why its test failed."""


def job_name(test_id: UUID) -> str:
    return f"tandem-gpu-test-{test_id}"


def may_have_work() -> bool:
    """Whether a test is queued or holds lanes."""
    return _queued().exists() or bool(gpu_tests_with_lanes())


def watch(*, gateway: ClusterGateway) -> None:
    """Release the lanes of jobs that are over, then submit queued tests, oldest first."""
    for test_id in gpu_tests_with_lanes():
        try:
            _watch_job(test_id, gateway)
        except ClusterUnavailable as error:
            logger.warning("test %s: %s", test_id, error)
    for test in _queued().select_related("gpu").order_by("created_at"):
        if test.gpu.state != ServiceState.AWAITING_TEST:
            end_test(test, (), reason=_overruled(test))
        else:
            launch(test_id=test.pk, gateway=gateway)


def _queued() -> QuerySet[GpuTest]:
    return GpuTest.objects.filter(state=GpuTestState.QUEUED)


def launch(*, test_id: UUID, gateway: ClusterGateway) -> bool:
    """Hold the lanes of a queued test and submit its job; false if it waits, or if nobody knows whether the job
    arrived."""
    code = new_secret()
    lane = claim(test_id, code)
    if lane is None:
        return False
    env = {BOOTSTRAP_CODE_VARIABLE: f"{test_id}.{code}", PUBLIC_URL_VARIABLE: settings.TANDEM_PUBLIC_URL}
    try:
        gateway.submit(job_name(test_id), env, entrypoint=ENTRYPOINT, lane=lane)
    except ClusterUnavailable as error:
        # It may have arrived nevertheless, so its lanes stay held. `_watch_job` repeats the test if it has not.
        logger.warning("test %s: %s", test_id, error)
        return False
    return True


def _watch_job(test_id: UUID, gateway: ClusterGateway) -> None:
    name = job_name(test_id)
    status = gateway.status(name)
    # The row is read after Ray was asked: a job that is over has sent its last report before.
    test = GpuTest.objects.select_related("gpu").filter(pk=test_id, ended_at=None).first()
    if status.is_over:
        if test is not None and status is JobStatus.UNKNOWN and _age(test) < SUBMIT_TIMEOUT:
            return
        if test is not None:
            _end_after_job(test, status, gateway.log_tail(name))
        release_test(test_id)
    elif test is None or _is_given_up(test):
        gateway.stop(name)


def _end_after_job(test: GpuTest, status: JobStatus, log: str) -> None:
    """End a test whose job is over and has not sent its last report."""
    tail = log.strip()[-MAX_LOG_CHARS:] or "it left no log"
    if reason := _overruled(test):
        end_test(test, steps_of(test), reason=reason)
    elif status is JobStatus.UNKNOWN:
        repeat_test(test, reason="the cluster does not know its job any more")
    elif test.code_used_at is None:
        repeat_test(test, reason=f"its job {status} before it began: {tail}")
    else:
        end_test(test, steps_of(test), reason=f"its job {status} before its last report: {tail}")


def _is_given_up(test: GpuTest) -> bool:
    """End a test whose job is not to go on; false if it may."""
    if reason := _overruled(test):
        end_test(test, steps_of(test), reason=reason)
    elif test.code_used_at is None and _age(test) > CODE_LIFETIME:
        repeat_test(test, reason="its job did not begin while its code was good")
    elif _age(test) > TIME_LIMIT:
        end_test(test, steps_of(test), reason=f"it did not end within {MAX_TEST_SECONDS // 60} minutes")
    else:
        return False
    return True


def _age(test: GpuTest) -> timedelta:
    """The time since its job was submitted."""
    return timedelta() if test.started_at is None else timezone.now() - test.started_at


def _overruled(test: GpuTest) -> str:
    """What was decided about the GPU since the test was asked for; empty if it still waits for it."""
    return "" if test.gpu.state == ServiceState.AWAITING_TEST else f"its GPU was set to {test.gpu.state} meanwhile"
