"""A GPU that works slower than its peers is found by what runs measure, and only by that."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.health.gpu_health import put_into_service
from fleet.health.peer_speeds import MIN_LANES, SLOW_FACTOR, compare_lanes
from fleet.health.slowdowns import note_speeds
from fleet.models import Gpu, HealthChange
from fleet.services import allocate
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.lane_holders import held_by
from worker.contracts.lanes import LaneSpec
from worker.scheduling.core.costs import Cost, CostKind, MeasuredCost, MeasuredCostTable

H100, L40S = "NVIDIA H100 80GB HBM3", "NVIDIA L40S"


def table(
    seconds: dict[str, float], kind: CostKind = CostKind.GENERATE, *, error: float = 0.01, units: int = 4
) -> dict[tuple[str, CostKind], MeasuredCost]:
    """Seconds of a trajectory by lane."""
    return {(lane, kind): MeasuredCost(Cost(0.0, one), units, units, error) for lane, one in seconds.items()}


def all_on(device: str, seconds: dict[str, float]) -> dict[str, str]:
    return dict.fromkeys(seconds, device)


def slow_lanes(measured: MeasuredCostTable, device_of: dict[str, str]) -> list[str]:
    return sorted(lane for lane, found in compare_lanes(measured, device_of).items() if found.is_slow)


def test_one_of_four_that_needs_half_as_long_again_is_slow() -> None:
    seconds = {"rollout-0": 10.0, "rollout-1": 10.4, "rollout-2": 15.0, "rollout-3": 9.8}
    found = compare_lanes(table(seconds), all_on(H100, seconds))
    assert [lane for lane, comparison in found.items() if comparison.is_slow] == ["rollout-2"]
    assert found["rollout-2"].factor == pytest.approx(15 / 10.2)
    assert (found["rollout-2"].work, found["rollout-2"].num_lanes) == (CostKind.GENERATE, 4)


def test_cards_of_another_model_are_no_peers() -> None:
    seconds = {"rollout-0": 10.0, "rollout-1": 10.0, "rollout-2": 10.0, "rollout-3": 30.0}
    device_of = {**all_on(H100, seconds), "rollout-3": L40S}
    assert slow_lanes(table(seconds), device_of) == []


def test_other_work_is_not_compared() -> None:
    seconds = {"rollout-0": 10.0, "trainer-0": 10.0, "trainer-1": 30.0}
    mixed = table({"rollout-0": 10.0}) | table({"trainer-0": 10.0, "trainer-1": 30.0}, CostKind.ACCUMULATE)
    assert slow_lanes(mixed, all_on(H100, seconds)) == []


def test_the_work_at_which_a_lane_does_worst_counts() -> None:
    trainers = {"trainer-0": 3.0, "trainer-1": 3.0, "trainer-2": 6.0}
    lent = table({"trainer-0": 10.0, "trainer-1": 10.0, "trainer-2": 10.0})
    (slow,) = (
        found
        for found in compare_lanes(table(trainers, CostKind.ACCUMULATE) | lent, all_on(H100, trainers)).values()
        if found.is_slow
    )
    assert slow.work is CostKind.ACCUMULATE and slow.factor == pytest.approx(2.0)


@pytest.mark.parametrize("error", [0.2, float("inf")])
def test_a_measurement_that_varies_too_much_accuses_nobody(error: float) -> None:
    seconds = {"rollout-0": 10.0, "rollout-1": 10.0, "rollout-2": 15.0}
    assert slow_lanes(table(seconds, error=error), all_on(H100, seconds)) == []


@given(
    seconds=st.lists(st.floats(1.0, 1.22), min_size=MIN_LANES, max_size=64),
    error=st.floats(0.0, 0.5),
    scale=st.floats(1e-3, 1e3),
)
def test_no_healthy_spread_is_called_slow(seconds: list[float], error: float, scale: float) -> None:
    """22 % is the most by which healthy cards of one model were seen to differ."""
    lanes = {f"rollout-{number}": one * scale for number, one in enumerate(seconds)}
    assert slow_lanes(table(lanes, error=error), all_on(H100, lanes)) == []


@given(num_peers=st.integers(2, 40), factor=st.floats(SLOW_FACTOR * 1.01, 20.0), units=st.integers(1, 32))
def test_a_card_surely_slower_than_the_bound_is_found_among_any_number(
    num_peers: int, factor: float, units: int
) -> None:
    lanes = {f"rollout-{number}": 7.0 for number in range(num_peers)} | {"rollout-99": 7.0 * factor}
    assert slow_lanes(table(lanes, error=0.0, units=units), all_on(H100, lanes)) == ["rollout-99"]


def four_lanes() -> uuid.UUID:
    """A run whose lanes are four cards of one node, beside a CPU lane."""
    post_node(alive("gpu0"), *(card(f"GPU-{name}", number) for number, name in enumerate("abcd")))
    run_id = uuid.uuid4()
    granted = allocate(holder=held_by(run_id, 1), wanted=LaneSpec(num_rollout=3, num_trainer=1))
    assert granted is not None
    return run_id


@pytest.mark.django_db
def test_a_slow_gpu_is_warned_of_and_works_on_until_it_is_as_fast_again() -> None:
    run_id = four_lanes()
    slow = {"rollout-0": 10.0, "rollout-1": 10.0, "rollout-2": 16.0}
    (name,) = note_speeds(run_id, 1, table(slow))
    gpu = Gpu.objects.get(uuid=name)
    assert gpu.lane is not None and gpu.lane.name_in_run == "rollout-2"
    assert (gpu.health, gpu.remedy, gpu.state) == ("warning", "test the GPU", "active")
    assert gpu.health_causes == ["slower than its peers: generate"]
    assert gpu.slow_factor == pytest.approx(1.6)
    (change,) = HealthChange.objects.all()
    assert change.run_id == run_id

    assert note_speeds(run_id, 1, table({**slow, "rollout-2": 17.0})) == [name]
    assert HealthChange.objects.count() == 1, "the same ailment is said once"

    post_node(alive("gpu0"), *(card(f"GPU-{letter}", number) for number, letter in enumerate("abcd")))
    gpu.refresh_from_db()
    assert gpu.health == "warning", "a report of the driver's counters takes nothing back"

    assert note_speeds(run_id, 1, table({**slow, "rollout-2": 10.5})) == []
    gpu.refresh_from_db()
    assert (gpu.health, gpu.slow_factor, gpu.slow_at_work) == ("healthy", None, "")


@pytest.mark.django_db
def test_a_gpu_that_passed_its_test_begins_with_a_clean_slate() -> None:
    run_id = four_lanes()
    (name,) = note_speeds(run_id, 1, table({"rollout-0": 10.0, "rollout-1": 10.0, "rollout-2": 16.0}))
    put_into_service(Gpu.objects.get(uuid=name), by="test")
    post_node(alive("gpu0"), *(card(f"GPU-{letter}", number) for number, letter in enumerate("abcd")))
    gpu = Gpu.objects.get(uuid=name)
    assert (gpu.slow_factor, gpu.slow_at_work, gpu.health) == (None, "", "healthy")


@pytest.mark.django_db
def test_lanes_that_the_attempt_does_not_hold_accuse_nobody() -> None:
    run_id = four_lanes()
    slow = table({"rollout-0": 10.0, "rollout-1": 10.0, "rollout-2": 16.0})
    assert note_speeds(run_id, 2, slow) == []
    assert note_speeds(uuid.uuid4(), 1, slow) == []
