"""What lanes have measured, by kind of device: lanes that are slower than most do not stand for theirs."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost, MeasuredCostTable
from worker.scheduling.planning.device_costs import by_device

NAMES = ("rollout-0", "rollout-1", "rollout-2", "rollout-3")
ON_ONE = dict.fromkeys(NAMES, "h100")


def generating(*seconds: float, size: int = 4) -> MeasuredCostTable:
    """Lanes that take so many seconds for a fragment of `size`."""
    costs = (MeasuredCost(Cost(0.0, each / size), size, size) for each in seconds)
    return {(name, CostKind.GENERATE): cost for name, cost in zip(NAMES, costs, strict=False)}


def seconds_of(table: MeasuredCostTable, device: str = "h100") -> float:
    return table[device, CostKind.GENERATE].cost.seconds(4)


def test_lanes_alike_give_their_mean_under_the_name_of_their_device() -> None:
    found = by_device(generating(8.0, 9.0, 10.0), ON_ONE)
    assert list(found) == [("h100", CostKind.GENERATE)]
    assert seconds_of(found) == pytest.approx(9.0)


@given(slow=st.floats(1.5, 20.0), place=st.integers(0, 3))
def test_a_slow_lane_does_not_stand_for_its_device(slow: float, place: int) -> None:
    seconds = [10.0] * 4
    seconds[place] *= slow
    assert seconds_of(by_device(generating(*seconds), ON_ONE)) == pytest.approx(10.0)


def test_of_two_lanes_that_differ_the_faster_stands_for_the_device() -> None:
    assert seconds_of(by_device(generating(20.0, 10.0), ON_ONE)) == pytest.approx(10.0)


def test_a_lane_that_turned_slow_counts_as_it_was_before() -> None:
    (key, known), *_ = generating(30.0).items()
    assert seconds_of(by_device({key: replace(known, slowdown=3.0)}, ON_ONE)) == pytest.approx(10.0)


def test_each_device_has_its_own_and_what_has_no_device_keeps_its_name() -> None:
    table = {**generating(8.0, 16.0), (GANG, CostKind.COMMIT): MeasuredCost(Cost(0.5), 1, 1)}
    found = by_device(table, {"rollout-0": "h100", "rollout-1": "l40s"})
    assert (seconds_of(found), seconds_of(found, "l40s")) == pytest.approx((8.0, 16.0))
    assert found[GANG, CostKind.COMMIT] == table[GANG, CostKind.COMMIT]
    assert by_device(table, {}) == table


def test_sizes_that_differ_from_lane_to_lane_are_not_taken_for_a_line() -> None:
    kind = CostKind.ACCUMULATE
    table = {
        ("trainer-0", kind): MeasuredCost(Cost(0.0, 3.0), 2, 2),
        ("trainer-1", kind): MeasuredCost(Cost(0.0, 2.9), 3, 3),
    }
    known = by_device(table, dict.fromkeys(("trainer-0", "trainer-1"), "h100"))["h100", kind]
    assert not known.determines_line
    of_line = {**table, ("trainer-2", kind): MeasuredCost(Cost(1.0, 2.5), 1, 4)}
    found = by_device(of_line, dict.fromkeys(("trainer-0", "trainer-1", "trainer-2"), "h100"))["h100", kind]
    assert (found.cost, found.fewest_units, found.most_units) == (Cost(1.0, 2.5), 1, 4)


@given(seconds=st.lists(st.floats(0.1, 100.0), min_size=4, max_size=4), seed=st.integers(0, 99))
def test_the_order_of_lanes_does_not_matter(seconds: list[float], seed: int) -> None:
    table = generating(*seconds)
    entries = list(table.items())
    random.Random(seed).shuffle(entries)
    assert by_device(dict(entries), ON_ONE) == by_device(table, ON_ONE)
