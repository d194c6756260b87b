"""The closed forms of the two queues give the times of lanes that take fragments one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.scheduling.forecast.queueing import GeneratingLanes, ScoringLanes, fragment_starts

ROUNDING = 1e-6
"""Seconds by which sums of the same durations in another order may differ."""

moments = st.floats(0, 5).map(lambda seconds: round(seconds, 1))
durations = st.sampled_from([0.1, 0.5, 1.0, 1.7])


@given(free_at=st.lists(moments, min_size=1, max_size=4), data=st.data(), num_fragments=st.integers(0, 12))
def test_fragments_start_when_lanes_that_pull_one_by_one_start_them(
    free_at: list[float], data: st.DataObject, num_fragments: int
) -> None:
    seconds = [data.draw(durations) for _ in free_at]
    unbounded = np.full(len(free_at), np.inf)
    lanes = GeneratingLanes(np.array(free_at), np.array(free_at), np.array(seconds), unbounded, unbounded)
    start, lane = fragment_starts(lanes, num_fragments)
    pulled, now = [], list(free_at)
    for _ in range(num_fragments):
        first = min(range(len(now)), key=now.__getitem__)
        pulled.append(now[first])
        now[first] += seconds[first]
    assert start == pytest.approx(pulled)
    assert np.bincount(lane, minlength=len(free_at)).sum() == num_fragments


@given(
    free_at=st.lists(moments, min_size=1, max_size=4),
    seconds=durations,
    fragments=st.lists(st.tuples(moments, st.integers(0, 5)), min_size=1, max_size=20),
)
def test_each_group_is_scored_when_lanes_that_take_the_lowest_one_first_have_scored_it(
    free_at: list[float], seconds: float, fragments: list[tuple[float, int]]
) -> None:
    generated, groups = np.array([at for at, _ in fragments]), np.array([group for _, group in fragments])
    scored = ScoringLanes(np.array(free_at), np.full(len(free_at), seconds)).scored_at(generated, groups)
    done, now = {}, list(free_at)
    waiting = list(range(len(fragments)))
    while waiting:
        lane = min(range(len(now)), key=now.__getitem__)
        at = max(now[lane], min(generated[waiting]))
        arrived = [index for index in waiting if generated[index] <= at + ROUNDING]
        taken = min(arrived, key=lambda index: (groups[index], generated[index]))
        waiting.remove(taken)
        now[lane] = done[taken] = at + seconds
    for group in set(groups.tolist()):
        of_group = np.flatnonzero(groups == group)
        assert max(scored[of_group]) == pytest.approx(max(done[index] for index in of_group.tolist()))


@given(
    num_lanes=st.integers(2, 12),
    spread=st.floats(0.0, 0.3),
    load=st.sampled_from([0.3, 0.9, 1.0, 3.0]),
    seed=st.integers(0, 9),
)
def test_many_fragments_are_scored_about_when_lanes_of_different_speeds_score_them(
    num_lanes: int, spread: float, load: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    number = 300
    seconds = 1.0 + spread * rng.uniform(-1, 1, num_lanes)
    generated = np.sort(rng.uniform(0, number / num_lanes / load, number))
    groups = np.arange(number) // 4
    lanes = ScoringLanes(np.zeros(num_lanes), seconds)
    simulated = lanes._simulated(generated.tolist(), groups.tolist())
    # A fragment's own seconds differ by the spread, and its position in the queue by a fragment or two.
    assert lanes.scored_at(generated, groups) == pytest.approx(simulated, abs=3.0)
    assert lanes.scored_at(generated, groups).max() == pytest.approx(max(simulated), abs=1.5)
