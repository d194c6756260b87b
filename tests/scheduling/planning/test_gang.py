"""The seconds in which ranks of several speeds end a number of whole units."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.scheduling.planning.gang import seconds_of_units


def end_of_list_scheduling(trainers: list[int], unit: list[float], num_units: int) -> float:
    """When the last unit ends if each is taken by the rank that would end it first, which is the best for equal
    units."""
    ranks = [(seconds, seconds) for seconds, number in zip(unit, trainers, strict=True) for _ in range(number)]
    heapq.heapify(ranks)
    end = 0.0
    for _ in range(num_units):
        end, seconds = ranks[0]
        heapq.heapreplace(ranks, (end + seconds, seconds))
    return end


@given(
    kinds=st.lists(st.tuples(st.integers(0, 5), st.floats(0.01, 20.0)), min_size=1, max_size=5).filter(
        lambda kinds: any(number for number, _ in kinds)
    ),
    num_units=st.integers(1, 200),
)
def test_units_end_as_soon_as_each_can_be_ended_by_some_rank(kinds: list[tuple[int, float]], num_units: int) -> None:
    trainers, unit = [number for number, _ in kinds], [seconds for _, seconds in kinds]
    found = seconds_of_units(np.array([trainers]), np.array(unit), num_units)
    assert found[0] == pytest.approx(end_of_list_scheduling(trainers, unit, num_units), rel=1e-7)


def test_splits_are_answered_each_for_itself() -> None:
    trainers = np.array([[1, 0], [0, 3], [2, 2]])
    found = seconds_of_units(trainers, np.array([2.0, 5.0]), 7)
    assert found.tolist() == pytest.approx([14.0, 15.0, 6.0])
