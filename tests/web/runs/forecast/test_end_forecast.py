"""When a run ends: by its own batches, by runs like it, by its plan, or unknown."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fleet.allocation.bands import Band
from runs.forecast.end_forecast import Pace, from_history, from_plan, left_of, remaining, seconds_of

measured = st.lists(st.floats(0.1, 1000), min_size=1, max_size=32)


def test_batches_that_vary_widen_the_band_and_more_of_them_narrow_it() -> None:
    steady, uneven = Pace(0, (10.0,) * 8), Pace(0, (5.0, 15.0) * 4)
    long = Pace(0, (5.0, 15.0) * 16)
    narrow, wide, wide_and_known = (seconds_of(100, pace) for pace in (steady, uneven, long))
    assert narrow == Band(1000, 1000, 1050), "a twentieth is kept in hand; none was faster than 10 s"
    assert wide is not None and wide_and_known is not None
    assert wide.likely == wide_and_known.likely == 1000
    assert wide.latest - wide.earliest > wide_and_known.latest - wide_and_known.earliest > 200


def test_one_batch_tells_no_spread_and_none_tells_nothing() -> None:
    assert seconds_of(4, Pace(0, (10.0,))) == Band(20, 40, 80)
    assert seconds_of(4, Pace()) is None


def test_bands_hold_what_they_promise() -> None:
    """19 of 20 runs end within them, where batches vary as measured."""
    chance, inside = random.Random(7), 0
    for _ in range(2000):
        batches = [chance.gauss(10, 2) for _ in range(48)]
        band = seconds_of(40, Pace(0, tuple(batches[:8])))
        assert band is not None
        inside += band.earliest <= sum(batches[8:]) <= band.latest
    assert 0.92 <= inside / 2000 <= 0.99


@given(batches=measured, num_left=st.integers(0, 500), elapsed=st.floats(0, 1e6))
@example([1.9, 1.9, 1.9], 1, 0.0).via("their mean is less than each of them, by rounding")
def test_what_remains_is_a_band_and_only_the_batch_under_way_can_be_overdue(
    batches: list[float], num_left: int, elapsed: float
) -> None:
    pace = Pace(0, tuple(batches))
    whole, rest = seconds_of(num_left, pace), remaining(num_left, pace, elapsed)
    after = seconds_of(max(num_left - 1, 0), pace)
    assert whole is not None and rest is not None and after is not None
    assert after.likely <= rest.likely <= whole.likely
    assert rest.latest <= whole.latest


def test_like_runs_tell_how_long_one_takes_from_its_start_on() -> None:
    paces = [Pace(30.0, (10.0, 10.0, 10.0)), Pace(60.0, (20.0, 20.0, 20.0)), Pace(30.0, (14.0, 14.0, 14.0))]
    assert from_history(10, paces) == Band(30 + 100, 30 + 140, 60 + 210)
    assert from_history(10, [Pace(30.0, (10.0, 10.0))]) is None, "its first batches include warm-up"
    assert from_history(10, [Pace(None, (10.0,) * 9)]) is None


def test_a_plan_counts_only_with_a_measured_start() -> None:
    assert from_plan(10, 6.0, [30.0, 40.0, 90.0]) == Band(30 + 30, 40 + 60, 90 + 120)
    assert from_plan(10, 6.0, []) is None


@given(elapsed=st.floats(0, 1e4))
def test_what_is_left_of_a_duration_never_grows_until_it_is_overdue(elapsed: float) -> None:
    left = left_of(Band(10, 20, 40), elapsed)
    assert (left.earliest, left.likely) == (max(10 - elapsed, 0), max(20 - elapsed, 0))
    assert left.latest == pytest.approx(abs(40 - elapsed))
