"""Tests of GPUs: asked for, and what follows from their end.

    asked for ─► queued ─► running ─► passed: the GPU takes work
                              │   └─► failed: the GPU is faulty
                              └─► the cluster lost the job: another test, at most `MAX_REPEATS` times

Invariant: a GPU whose state is `awaiting_test` has one open test.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from fleet.health.gpu_health import put_into_service
from fleet.health_rules import Health, judge
from fleet.models import Gpu, GpuTest, GpuTestState, ServiceState
from fleet.states.state_changes import change_state
from worker.contracts.gpu_tests import GpuTestStep, StepOutcome
from worker.contracts.node_reports import GpuFaults

TESTER = "GPU test"
"""Who returns a GPU or finds it faulty, in histories."""
MAX_REPEATS = 3
"""How often a test whose job the cluster lost is begun again: enough for a head that starts anew, and no endless row of
tests where jobs cannot be submitted at all."""


@transaction.atomic
def request_test(gpu: Gpu, *, by: str, reason: str) -> GpuTest:
    """Take the GPU out of service until a test has passed; the open one if there is one."""
    change_state(gpu, ServiceState.AWAITING_TEST, by=by, reason=reason)
    test, _ = GpuTest.objects.get_or_create(
        gpu=gpu, ended_at=None, defaults={"requested_by": by, "faults_before": gpu.faults}
    )
    return test


@transaction.atomic
def end_test(test: GpuTest, steps: Sequence[GpuTestStep], *, reason: str = "") -> bool:
    """Store the end of an open test, and decide about its GPU: with `reason`, with a step that failed, or with a fault
    that its driver has counted since the test was asked for, it is faulty. False if the test has ended before."""
    gpu = Gpu.objects.get(pk=test.gpu_id)
    failed = next((step for step in steps if step.outcome is StepOutcome.FAILED), None)
    why = reason or (f"{failed.name}: {failed.detail}" if failed else _new_fault(gpu, test))
    if not _close(test, GpuTestState.FAILED if why else GpuTestState.PASSED, steps, why):
        return False
    # An admin may have decided otherwise meanwhile.
    if gpu.state == ServiceState.AWAITING_TEST:
        if why:
            change_state(gpu, ServiceState.FAULTY, by=TESTER, reason=why[:200])
        else:
            put_into_service(gpu, by=TESTER)
    return True


@transaction.atomic
def repeat_test(test: GpuTest, *, reason: str) -> None:
    """End an open test whose job was lost, which says nothing about its GPU, and ask for another one."""
    steps = steps_of(test)
    gpu = Gpu.objects.get(pk=test.gpu_id)
    if gpu.state != ServiceState.AWAITING_TEST or test.num_repeats >= MAX_REPEATS:
        end_test(test, steps, reason=reason)
    elif _close(test, GpuTestState.FAILED, steps, reason):
        GpuTest.objects.create(
            gpu=gpu,
            requested_by=test.requested_by,
            faults_before=test.faults_before,
            num_repeats=test.num_repeats + 1,
            reason=f"repeated, since {reason}"[:500],
        )


def steps_of(test: GpuTest) -> tuple[GpuTestStep, ...]:
    """The steps that have ended."""
    return tuple(GpuTestStep.model_validate(step) for step in test.steps)


def _close(test: GpuTest, state: GpuTestState, steps: Sequence[GpuTestStep], reason: str) -> bool:
    """Write the end of a test; false if it has ended before."""
    values: dict[str, Any] = {
        "state": state.value,
        "steps": [step.model_dump(mode="json") for step in steps],
        "reason": reason[:500],
        "ended_at": timezone.now(),
    }
    return bool(GpuTest.objects.filter(pk=test.pk, ended_at=None).update(**values))


def _new_fault(gpu: Gpu, test: GpuTest) -> str:
    """What its driver counts against the GPU that it did not before the test; empty for nothing that fails a card."""
    verdict = judge(GpuFaults.model_validate(gpu.faults), GpuFaults.model_validate(test.faults_before))
    return f"its driver reports: {verdict.causes[0]}" if verdict.health is Health.FAILED else ""
