"""What a loan is worth: more for a longer stay and a larger gain, nothing where switching costs more."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.scheduling.borrowing.worth import (
    ASSUMED_STAY_SECONDS,
    MIN_GAIN,
    LoanTerms,
    expected_stay,
    net_gain_seconds,
)

SECONDS = st.floats(0.1, 1e4)
TERMS = st.builds(lambda stay, join, leave: LoanTerms(stay=stay, join=join, leave=leave), SECONDS, SECONDS, SECONDS)


def test_a_stay_of_ten_batches_that_take_half_the_time_gains_ten_batches_less_the_switch() -> None:
    terms = LoanTerms(stay=1030.0, join=20.0, leave=10.0)
    gained = net_gain_seconds({0: 100.0, 1: 50.0}, terms)
    assert gained == {1: pytest.approx(1000.0 - 30.0)}, "20 batches in 1000 s, which would take 2000 s"


@given(st.dictionaries(st.integers(0, 8), SECONDS, min_size=1).filter(lambda seconds: 0 in seconds), TERMS)
def test_what_saves_less_than_the_margin_is_no_offer(seconds: dict[int, float], terms: LoanTerms) -> None:
    gains = net_gain_seconds(seconds, terms)
    assert set(gains) == {
        number for number in seconds if number and seconds[0] - seconds[number] >= MIN_GAIN * seconds[0]
    }


@given(SECONDS, SECONDS, TERMS)
def test_a_stay_no_longer_than_the_switch_gains_nothing(before: float, after: float, terms: LoanTerms) -> None:
    short = LoanTerms(stay=terms.join + terms.leave, join=terms.join, leave=terms.leave)
    assert all(gain < 0 for gain in net_gain_seconds({0: before, 1: after}, short).values())


@given(st.floats(0, 1e7), st.integers(0, 1000), SECONDS)
def test_the_expected_stay_lies_within_what_was_seen_and_what_is_left(lent: float, reclaimed: int, left: float) -> None:
    stay = expected_stay(lent, reclaimed, seconds_left=left)
    assert 0 < stay <= left
    assert stay <= lent + ASSUMED_STAY_SECONDS


def test_lanes_that_are_soon_asked_back_are_expected_to_be_again() -> None:
    assert expected_stay(0.0, 0, seconds_left=math.inf) == ASSUMED_STAY_SECONDS
    assert expected_stay(5400.0, 99, seconds_left=math.inf) == pytest.approx(60.0)
    assert expected_stay(86_400.0, 0, seconds_left=math.inf) == pytest.approx(87_000.0)
