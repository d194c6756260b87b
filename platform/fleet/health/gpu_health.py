"""Follows the health of GPUs from report to report: what fails is taken out of service, the card and not its node.

Invariant: each change of verdict is one `HealthChange`; a card that fails stays out of service when its readings get
better, until a test has passed.
"""

from datetime import datetime, timedelta

from fleet.health_rules import Health, judge, worrying
from fleet.models import Gpu, HealthChange, ServiceState
from fleet.states.state_changes import change_state
from worker.contracts.node_reports import GpuFaults

HEALTH = "health"
"""Who takes a failed GPU out of service, in histories."""
THROTTLE_KEPT = timedelta(minutes=10)
"""How long reduced clocks are remembered: a card at its thermal limit goes to and fro every few seconds."""
_IN_SERVICE = (ServiceState.ACTIVE, ServiceState.CORDONED, ServiceState.DRAINING)
FIELDS = ("health", "health_causes", "remedy", "health_since", "throttled_by", "throttled_at")
"""The columns that `follow` writes into a row without storing it."""


def follow(row: Gpu, faults: GpuFaults, now: datetime) -> None:
    """Write the verdict on what a stored card reports into its row; the caller stores it."""
    _remember_throttling(row, faults, now)
    lasting = faults.model_copy(update={"throttle_reasons": tuple(row.throttled_by)})
    verdict = judge(lasting, GpuFaults.model_validate(row.faults_before), slow_at=row.slow_at_work)
    if (verdict.health, list(verdict.causes), verdict.remedy) == (row.health, row.health_causes, row.remedy):
        return
    row.health, row.health_causes, row.remedy = verdict.health.value, list(verdict.causes), verdict.remedy.value
    row.health_since = now
    HealthChange.objects.create(
        gpu=row,
        name=row.name,
        health=row.health,
        causes=row.health_causes,
        remedy=row.remedy,
        faults=faults.model_dump(mode="json"),
        run_id=row.lane.run_id if row.lane else None,
        at=now,
    )
    if verdict.health is Health.FAILED and row.state in _IN_SERVICE:
        # Another object, since the row holds what has not been stored yet.
        change_state(Gpu(pk=row.pk), ServiceState.FAULTY, by=HEALTH, reason=verdict.causes[0])


def put_into_service(gpu: Gpu, *, by: str) -> None:
    """The card has passed its test: what was counted until now is dealt with, and it takes work."""
    Gpu.objects.filter(pk=gpu.pk).update(
        faults_before=gpu.faults, throttled_by=[], throttled_at=None, slow_factor=None, slow_at_work=""
    )
    change_state(gpu, ServiceState.ACTIVE, by=by)


def _remember_throttling(row: Gpu, faults: GpuFaults, now: datetime) -> None:
    reasons = worrying(faults.throttle_reasons)
    if reasons:
        row.throttled_by, row.throttled_at = reasons, now
    elif row.throttled_at is not None and now - row.throttled_at > THROTTLE_KEPT:
        row.throttled_by, row.throttled_at = [], None
