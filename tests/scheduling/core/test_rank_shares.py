"""Ranks take shares by speed, and end a mini-batch nearly together."""

import heapq
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.scheduling.core.rank_shares import RankShares, earliest_ends, end_of_units

speeds = st.lists(st.sampled_from([0.01, 0.5, 1.0, 1.0, 1.1, 2.0, 3.0, 7.5, 40.0]), min_size=1, max_size=9)


def last_end_one_by_one(free_at: list[float], unit_seconds: list[float], num_units: int) -> float:
    """When the last unit ends, if each in turn goes to the rank that ends it first."""
    ends = [(free + each, rank) for rank, (free, each) in enumerate(zip(free_at, unit_seconds, strict=True))]
    heapq.heapify(ends)
    last = 0.0
    for _ in range(num_units):
        last, rank = heapq.heappop(ends)
        heapq.heappush(ends, (last + unit_seconds[rank], rank))
    return last


@settings(max_examples=300, deadline=None)
@given(unit_seconds=speeds, num_units=st.integers(1, 200), seed=st.integers(0, 2**32))
def test_units_go_to_the_ranks_that_end_them_first(unit_seconds: list[float], num_units: int, seed: int) -> None:
    rng = Random(seed)
    free_at = [rng.choice([0.0, rng.uniform(0, 50)]) for _ in unit_seconds]
    counts = earliest_ends(np.array(free_at), np.array(unit_seconds), num_units)
    assert counts.sum() == num_units
    assert counts.min() >= 0
    ends = [free + n * each for free, n, each in zip(free_at, counts, unit_seconds, strict=True) if n]
    assert max(ends) == pytest.approx(last_end_one_by_one(free_at, unit_seconds, num_units))


def test_a_rank_that_is_away_gets_nothing() -> None:
    assert earliest_ends(np.array([np.inf, 0.0]), np.ones(2), 5).tolist() == [0, 5]


def test_a_rank_that_is_there_first_leaves_their_share_to_those_that_return_later() -> None:
    shares = RankShares(["slow", "away"])
    shares.set_speed("slow", 4.0, 0.0)
    assert shares.to_take(["slow"], 8, 8, 0.0, {"away": 1.0}) == [("slow", 1)]
    assert shares.to_take(["slow"], 8, 8, 0.0, {"away": 100.0}) == [("slow", 4)]
    assert shares.to_take(["slow"], 8, 8, 0.0, {}) == [("slow", 4)], "it is not known when, so half is left"


def test_a_rank_without_others_takes_all_at_once() -> None:
    assert RankShares(["only"]).to_take(["only"], 8, 8, 0.0, {}) == [("only", 8)]


def finish_minibatch(
    unit_seconds: list[float], num_units: int, *, call_seconds: float = 0.0, vary: float = 0.0, seed: int = 0
) -> tuple[float, list[int], int]:
    """(seconds, units by rank, number of calls) of a mini-batch that is ready from the start, with calls that vary by
    `vary` in either direction."""
    lanes, rng = [str(rank) for rank in range(len(unit_seconds))], Random(seed)
    shares = RankShares(lanes)
    for lane, each in zip(lanes, unit_seconds, strict=True):
        shares.set_speed(lane, each, call_seconds)
    free, now, left, num_calls = set(lanes), 0.0, num_units, 0
    taken, under_way = dict.fromkeys(lanes, 0), list[tuple[float, str]]()
    while left or under_way:
        if left and free:
            for lane, number in shares.to_take(sorted(free), left, left, now, {}):
                assert number > 0
                shares.began(lane, number, now)
                factor = 1 + vary * (2 * rng.random() - 1)
                seconds = factor * (call_seconds + number * unit_seconds[int(lane)])
                heapq.heappush(under_way, (now + seconds, lane))
                free.remove(lane)
                taken[lane] += number
                left -= number
                num_calls += 1
        assert left >= 0
        assert under_way, "with units left and nothing under way a free rank takes some"
        now, lane = heapq.heappop(under_way)
        shares.ended(lane)
        free.add(lane)
    return now, list(taken.values()), num_calls


@settings(max_examples=150, deadline=None)
@given(unit_seconds=speeds, num_units=st.integers(1, 120))
def test_with_known_speeds_a_mini_batch_ends_as_early_as_can_be(unit_seconds: list[float], num_units: int) -> None:
    seconds, taken, _ = finish_minibatch(unit_seconds, num_units)
    assert sum(taken) == num_units
    least = last_end_one_by_one([0.0] * len(unit_seconds), unit_seconds, num_units)
    if num_units >= len(unit_seconds):
        assert min(taken) >= 1, "every rank is measured"
        # Apart from ranks so slow that their one unit takes longest, it is the best of all divisions.
        assert seconds <= max(least, max(unit_seconds)) + max(each for each in unit_seconds if each <= least) + 1e-9
    assert seconds >= least - 1e-9


def test_equal_ranks_share_equally_and_a_slow_one_takes_its_part() -> None:
    assert finish_minibatch([3.0] * 4, 64)[:2] == (48.0, [16] * 4)
    seconds, taken, _ = finish_minibatch([3.0] * 6 + [6.0], 65)
    assert (seconds, taken) == (30.0, [10] * 6 + [5])


def test_where_calls_vary_ranks_still_end_nearly_together() -> None:
    exact = finish_minibatch([3.0] * 5, 80)[0]
    varied = [finish_minibatch([3.0] * 5, 80, vary=0.2, seed=seed)[0] for seed in range(40)]
    assert sum(varied) / len(varied) < exact + 3.0, "less than a unit on average"


def test_dear_calls_are_few() -> None:
    cheap, dear = (finish_minibatch([1.0] * 4, 64, call_seconds=seconds)[2] for seconds in (0.01, 3.0))
    assert dear < cheap
    assert dear == 4, "the fixed part is a tenth of a call of 27 units, more than a rank's share"


def test_one_rank_alone_takes_all_that_is_ready() -> None:
    assert finish_minibatch([1.0], 50) == (50.0, [50], 1)


def test_ranks_whose_calls_take_equally_long_share_equally_however_the_seconds_are_parted() -> None:
    """Of two ranks alike one was seen at small calls that were slowed down, and so seems to take less for each unit."""
    shares = RankShares(["a", "b"])
    shares.set_speed("a", 0.080, 0.0)
    shares.set_speed("b", 0.045, 0.1)
    taken = dict(shares.to_take(["a", "b"], 9, 9, 0.0, {}))
    assert taken["b"] == 5, "6 would take 0.37 s, by when the other rank could have ended 4"


def test_a_late_rank_is_not_counted_on() -> None:
    shares = RankShares(["late", "free"])
    assert shares.to_take(["late"], 1, 3, 0.0, {}) == [("late", 1)]
    shares.began("late", 1, 0.0)
    shares.began("free", 1, 0.0)
    shares.ended("free")
    assert shares.to_take(["free"], 1, 1, 100.0, {}) == [("free", 1)], "99 seconds late, it may be so again"


@given(unit_seconds=speeds, num_units=st.integers(1, 120))
def test_the_end_of_units_is_what_a_mini_batch_takes(unit_seconds: list[float], num_units: int) -> None:
    number = len(unit_seconds)
    predicted = end_of_units(np.zeros(number), np.array(unit_seconds), np.zeros(number), num_units, is_first=True)
    seconds, _, _ = finish_minibatch(unit_seconds, num_units)
    assert abs(predicted - seconds) <= max(unit_seconds) + 1e-9
