"""What a test's job is told and what it reports: its single-use code, its token, its steps.

Invariant: the code is accepted once, within five minutes, and the token only until the test has ended; only hashes of
both are stored. A GPU returns by a final report in which every step of `REQUIRED` has passed.
"""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.secrets import hash_secret, matches, new_secret
from catalog.base_models import smallest_picture_model
from fleet.health.gpu_tests import end_test
from fleet.models import GpuTest, GpuTestState
from fleet.pools.pool_changes import publish_holders
from fleet.selectors import grant_of_gpu
from worker.contracts.gpu_tests import GpuTestJob, GpuTestReport, GpuTestStepName, StepOutcome

CODE_LIFETIME = timedelta(minutes=5)
REQUIRED = (GpuTestStepName.DEVICE, GpuTestStepName.MATRIX_PRODUCT, GpuTestStepName.MEMORY_SWEEP)
"""The steps that every GPU can be tested by; the others need a model or another GPU."""


class GpuTestRefused(Exception):
    """The code or token is not that of this test: 401."""


class GpuTestOver(Exception):
    """The test has ended: 410, the job exits."""


@transaction.atomic
def trade_code(code: str) -> GpuTestJob:
    """Answer the job's first request. Raises `GpuTestRefused`, `GpuTestOver`."""
    key, _, secret = code.partition(".")
    test = _found(key)
    if test is None or not matches(secret, test.code_hash):
        raise GpuTestRefused("the code is not known")
    _check_open(test)
    if test.gpu.lane is None:
        raise GpuTestOver("the GPU was moved, and its lane is gone")
    now, token = timezone.now(), new_secret()
    unused = GpuTest.objects.filter(pk=test.pk, ended_at=None, code_used_at=None, code_expires_at__gt=now)
    if not unused.update(code_used_at=now, token_hash=hash_secret(token)):
        raise GpuTestRefused("the code was used before or has expired: it is good once, for five minutes")
    grant, model = grant_of_gpu(test.gpu), smallest_picture_model()
    return GpuTestJob(
        test=test.pk,
        token=token,
        device=grant.device,
        uuid=test.gpu.uuid if grant.uuids else "",
        peer=grant_of_gpu(test.peer).device if test.peer and test.peer.lane else None,
        base_model_path=str(model.path) if model else "",
        base_model_family=model.family if model else None,
    )


def authorise(test_id: UUID, token: str) -> GpuTest:
    """The running test that `token` belongs to. Raises `GpuTestRefused`, `GpuTestOver`."""
    test = _found(str(test_id))
    if test is None or not matches(token, test.token_hash):
        raise GpuTestRefused("the token is not that of this test")
    _check_open(test)
    return test


def take(test: GpuTest, report: GpuTestReport) -> None:
    """Store the steps that have ended; the last report ends the test. Raises `GpuTestOver` if it has ended before."""
    if report.is_final:
        is_taken = end_test(test, report.steps, reason=_gap(report))
    else:
        steps = [step.model_dump(mode="json") for step in report.steps]
        is_taken = bool(GpuTest.objects.filter(pk=test.pk, ended_at=None).update(steps=steps))
        publish_holders([test.gpu.node_id])
    if not is_taken:
        raise GpuTestOver("the test has ended")


def _gap(report: GpuTestReport) -> str:
    """What is missing from a last report without a failure; empty for nothing."""
    if any(step.outcome is StepOutcome.FAILED for step in report.steps):
        return ""
    passed = {step.name for step in report.steps if step.outcome is StepOutcome.PASSED}
    missing = [name.value for name in REQUIRED if name not in passed]
    return f"the test ended without {', '.join(missing)}" if missing else ""


def _check_open(test: GpuTest) -> None:
    if test.state != GpuTestState.RUNNING:
        raise GpuTestOver(f"the test is {test.state}{f': {test.reason}' if test.reason else ''}")


def _found(key: str) -> GpuTest | None:
    try:
        return GpuTest.objects.select_related("gpu__lane__node", "peer__lane__node").filter(pk=UUID(key)).first()
    except ValueError:
        return None
