"""What a lane's work costs follows what the lane has become, and not a single late call."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.scheduling.core.cost_fit import CostFit


def fit_of(*seconds: float, num_units: int = 4) -> CostFit:
    fit = CostFit(num_units, num_units)
    for each in seconds:
        fit.observe(num_units, each)
    return fit


@pytest.mark.parametrize("factor", [2.0, 20.0, 0.5], ids=str)
def test_two_calls_in_a_row_that_are_far_off_tell_what_the_lane_has_become(factor: float) -> None:
    steady = [10.0] * 30
    assert fit_of(*steady, 10.0 * factor, 10.0 * factor).mean_seconds == pytest.approx(10.0 * factor)


def test_one_late_call_weighs_as_much_as_any_other() -> None:
    with_one = fit_of(*[10.0] * 30, 100.0, *[10.0] * 10)
    assert 10.0 < with_one.mean_seconds < 15.0


def test_the_fragments_of_one_late_call_are_not_two_calls() -> None:
    fit = fit_of(*[10.0] * 30)
    for place in range(3):
        fit.observe(4, 100.0, is_same_call=place > 0)
    fit.observe(4, 10.0)
    assert fit.mean_seconds < 50.0


def test_calls_that_are_off_to_both_sides_are_of_one_lane() -> None:
    assert fit_of(*[10.0] * 30, 20.0, 5.0).mean_seconds == pytest.approx(10.4, abs=0.5)


def test_a_first_call_that_compiles_is_forgotten_after_the_next_two() -> None:
    assert fit_of(30.0, 2.0, 2.0).mean_seconds == pytest.approx(2.0)


def test_calls_of_sizes_that_were_not_seen_are_never_taken_for_another_lane() -> None:
    """What they should take is inferred."""
    fit = fit_of(*[10.0] * 20)
    for _ in range(2):
        fit.observe(64, 11.0)
    assert fit.fewest == 4


@given(st.integers(0, 10**6), st.floats(0.0, 0.05))
def test_a_lane_that_stays_as_it_is_keeps_what_was_measured(seed: int, deviation: float) -> None:
    random = Random(seed)
    fit = fit_of(*(10.0 * (1 + random.uniform(-deviation, deviation)) for _ in range(60)))
    assert fit.weight > 9.9, "nothing was forgotten: the weights of 60 observations sum to 9.98"
