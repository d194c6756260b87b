"""What a lane's work costs follows what the lane has become, and not a single late call."""

from random import Random
from statistics import mean

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


def test_a_lane_that_turns_slow_is_seen_at_once_where_its_calls_vary_in_size() -> None:
    """Lanes of unlike speed take unlike numbers of micro-batches, and other numbers in each batch."""
    fit = CostFit(3, 3)
    for num_units in (3, 4, 5) * 10:
        fit.observe(num_units, 2.0 + num_units)
    for num_units in (5, 3):
        fit.observe(num_units, 2 * (2.0 + num_units))
    assert fit.cost(None).seconds(4) == pytest.approx(12.0)


def test_one_late_call_weighs_as_much_as_any_other() -> None:
    with_one = fit_of(*[10.0] * 30, 100.0, *[10.0] * 10)
    assert 10.0 < with_one.mean_seconds < 15.0


def test_the_fragments_of_one_late_call_are_not_two_calls() -> None:
    fit = fit_of(*[10.0] * 30)
    for place in range(3):
        fit.observe(4, 100.0, is_same_call=place > 0)
    fit.observe(4, 10.0)
    assert fit.mean_seconds < 50.0


def test_a_call_that_was_far_off_before_all_took_longer_confirms_nothing_after_it() -> None:
    fit = fit_of(*[10.0] * 30, 5.0)
    assert fit.scale(2.0, 4, 20.0)
    fit.observe(4, 7.0)
    assert fit.mean_seconds > 15.0


def test_how_slow_a_lane_has_turned_is_remembered_and_slow_first_calls_are_not() -> None:
    assert fit_of(*[10.0] * 4, 50.0, 50.0).slowdown == pytest.approx(5.0)
    assert fit_of(*[10.0] * 4, 50.0, 50.0, *[10.0] * 4).slowdown == pytest.approx(1.0)
    assert fit_of(30.0, 2.0, 2.0, 2.0, 6.0, 6.0).slowdown == pytest.approx(3.0)


def test_what_was_far_off_once_is_the_truth_where_other_work_says_so_too() -> None:
    fit = fit_of(*[10.0] * 30, 50.0)
    assert not fit.confirm(2.0), "it took five times as long"
    assert fit.confirm(5.0)
    assert (fit.mean_seconds, fit.slowdown) == pytest.approx((50.0, 5.0))
    assert not fit.confirm(5.0), "once"


@pytest.mark.parametrize(("factor", "seconds"), [(0.5, 25.0), (0.1, 10.0)], ids=["in part", "more than wholly"])
def test_a_lane_recovers_to_no_less_than_it_took_before_it_turned_slow(factor: float, seconds: float) -> None:
    fit = fit_of(*[10.0] * 4, 50.0, 50.0)
    fit.recover(factor)
    assert (fit.mean_seconds, fit.slowdown) == pytest.approx((seconds, seconds / 10.0))
    assert fit.measured(None).relative_error == pytest.approx(0.0, abs=1e-6), "it is known as well as before"


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


def test_a_size_that_has_no_weight_any_more_is_as_one_that_was_not_seen() -> None:
    fit = fit_of(5.5, num_units=1)
    for _ in range(60):
        fit.observe(4, 10.0)
    for _ in range(2):
        fit.observe(1, 5.5)
    assert fit.weight > 9.9, "a fixed part of 4 s was not known, so calls of 1 unit are no new lane"


@given(st.integers(0, 10**6), st.floats(0.0, 0.05), st.sampled_from([(4,), (3, 4, 5)]))
def test_a_lane_that_stays_as_it_is_keeps_what_was_measured(
    seed: int, deviation: float, sizes: tuple[int, ...]
) -> None:
    random, fit = Random(seed), CostFit(sizes[0], sizes[0])
    for num_units in (random.choice(sizes) for _ in range(60)):
        fit.observe(num_units, 2.5 * num_units * (1 + random.uniform(-deviation, deviation)))
    assert fit.weight > 9.9, "nothing was forgotten: the weights of 60 observations sum to 9.98"


def test_sizes_that_others_slow_down_make_no_fixed_part_of_a_call() -> None:
    """Small calls fall into the time in which other processes use the cores, large ones do not: a line of least squares
    through these takes 72 ms for the fixed part, where it is 8."""

    def fixed_part(seed: int) -> float:
        random, fit = Random(seed), CostFit(1, 1)
        for num_units in (1, 2, 5) * 10:
            slowed = random.uniform(1.0, 2.4) if num_units < 5 else random.uniform(1.0, 1.15)
            fit.observe(num_units, 0.008 + 0.055 * num_units * slowed)
        return fit.cost(None).per_call

    assert mean(fixed_part(seed) for seed in range(50)) < 0.04


@given(st.floats(0.0, 3.0), st.floats(0.01, 3.0), st.lists(st.sampled_from([1, 2, 3, 8]), min_size=3, max_size=30))
def test_a_lane_that_always_takes_the_same_time_is_known_exactly(
    per_call: float, per_unit: float, sizes: list[int]
) -> None:
    fit = CostFit(1, 1)
    for num_units in (1, 8, *sizes, 1, 8):
        fit.observe(num_units, per_call + per_unit * num_units)
    cost = fit.cost(None)
    assert (cost.per_call, cost.per_unit) == pytest.approx((per_call, per_unit), abs=1e-4)
