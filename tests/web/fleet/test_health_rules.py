"""Which readings are a fault, which a warning, and which nobody's business."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.health_rules import XIDS, Health, Remedy, judge
from worker.contracts.node_reports import GpuFaults

CLEAN = GpuFaults()
faults = st.builds(
    GpuFaults,
    xids=st.dictionaries(st.integers(0, 200), st.integers(1, 20_000), max_size=5),
    ecc_uncorrected=st.none() | st.integers(0, 50),
    remap_pending=st.booleans(),
    remap_failed=st.booleans(),
    is_lost=st.booleans(),
    throttle_reasons=st.lists(st.sampled_from(["software power cap", "hardware slowdown"]), max_size=2).map(tuple),
)


@pytest.mark.parametrize(
    ("reading", "health", "remedy"),
    [
        ({"xids": {79: 1}}, Health.FAILED, Remedy.REBOOT),
        ({"xids": {48: 1, 45: 3}}, Health.FAILED, Remedy.RESET),
        ({"xids": {64: 1, 48: 1}}, Health.FAILED, Remedy.REPLACE),
        ({"xids": {94: 2}}, Health.WARNING, Remedy.RESET),
        ({"remap_failed": True}, Health.FAILED, Remedy.REPLACE),
        ({"remap_pending": True, "ecc_uncorrected": 4}, Health.WARNING, Remedy.RESET),
        ({"is_lost": True}, Health.FAILED, Remedy.REBOOT),
        ({"throttle_reasons": ("hardware thermal slowdown",)}, Health.WARNING, Remedy.COOL),
        ({"throttle_reasons": ("software power cap",)}, Health.HEALTHY, Remedy.NONE),
        ({"ecc_corrected": 9_000_000}, Health.HEALTHY, Remedy.NONE),
    ],
)
def test_each_reading_has_its_verdict(reading: dict[str, object], health: Health, remedy: Remedy) -> None:
    verdict = judge(GpuFaults.model_validate(reading), CLEAN)
    assert (verdict.health, verdict.remedy) == (health, remedy)
    assert bool(verdict.causes) is (health is not Health.HEALTHY)


@pytest.mark.parametrize("code", [13, 31, 43, 45, 63, 68])
def test_a_storm_of_an_applications_errors_is_no_fault(code: int) -> None:
    assert judge(GpuFaults(xids={code: 11_760}), CLEAN).health is Health.HEALTHY


def test_what_was_counted_before_a_card_was_put_into_service_does_not_count_again() -> None:
    before = GpuFaults(xids={48: 2}, ecc_uncorrected=7)
    assert judge(before, before).health is Health.HEALTHY
    assert judge(GpuFaults(xids={48: 3}, ecc_uncorrected=7), before).health is Health.FAILED
    assert judge(GpuFaults(xids={48: 1}), before).health is Health.FAILED, "the agent began to count anew"


@given(reading=faults, more=faults)
def test_more_faults_never_make_a_card_healthier(reading: GpuFaults, more: GpuFaults) -> None:
    both = GpuFaults(
        xids={code: max(reading.xids.get(code, 0), more.xids.get(code, 0)) for code in reading.xids | more.xids},
        ecc_uncorrected=max(reading.ecc_uncorrected or 0, more.ecc_uncorrected or 0),
        remap_pending=reading.remap_pending or more.remap_pending,
        remap_failed=reading.remap_failed or more.remap_failed,
        is_lost=reading.is_lost or more.is_lost,
        throttle_reasons=tuple({*reading.throttle_reasons, *more.throttle_reasons}),
    )
    order = list(Health)
    assert order.index(judge(both, CLEAN).health) >= order.index(judge(reading, CLEAN).health)


@given(reading=faults)
def test_only_a_cause_makes_a_card_less_than_healthy(reading: GpuFaults) -> None:
    verdict = judge(reading, CLEAN)
    assert (verdict.health is Health.HEALTHY) == (not verdict.causes)
    if verdict.health is Health.FAILED:
        assert reading.is_lost or reading.remap_failed or any(code in XIDS for code in reading.xids)
