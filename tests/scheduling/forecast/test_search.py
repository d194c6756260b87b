"""`tag: search` lends where it pays and nowhere else; its forecasts come true where costs are exact."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.search_grid import Profile, grid, noisy
from worker.contracts.names import TrainerAssist
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.lending import Allowance
from worker.scheduling.core.messages import Event, Published
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.forecast import extend, loans_now
from worker.scheduling.forecast.queueing import GeneratingLanes, ScoringLanes, starts
from worker.scheduling.forecast.search import Search
from worker.scheduling.forecast.state_reader import InitialStateReader

AS_EXACT = 1e-6
"""Seconds: sums of the same durations in another order."""
COARSE = Profile(
    generation_to_training=2.0,
    num_groups=2,
    fragments_in_group=1,
    switch_seconds=1.0,
    score_seconds=0.02,
    num_rollout=2,
    num_trainer=1,
)
"""A fragment is half the batch."""
FINE = replace(COARSE, num_groups=8, fragments_in_group=4, switch_seconds=0.1, generation_to_training=4.0)


def ratio(profile: Profile) -> float:
    return profile.seconds(TrainerAssist.SEARCH) / profile.seconds(TrainerAssist.OFF)


def worse_than_off(profiles: Sequence[Profile]) -> dict[Profile, float]:
    ratios = {profile: ratio(profile) for profile in profiles}
    return {profile: value for profile, value in ratios.items() if value > 1.01}


@pytest.mark.parametrize("part", range(3))
def test_with_exact_costs_search_is_nowhere_slower_than_off(part: int) -> None:
    assert not worse_than_off(grid()[part * 24 :: 72])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(48))
def test_with_exact_costs_search_is_nowhere_slower_than_off_on_the_whole_grid(part: int) -> None:
    assert not worse_than_off(grid()[part::48])


def test_greedy_loses_by_coarse_fragments_and_search_does_not() -> None:
    off = COARSE.seconds(TrainerAssist.OFF)
    assert COARSE.seconds(TrainerAssist.GREEDY) > 1.2 * off
    assert COARSE.seconds(TrainerAssist.SEARCH) == off


def test_where_generation_is_the_bottleneck_search_gains_what_greedy_gains() -> None:
    search = FINE.seconds(TrainerAssist.SEARCH)
    assert search < 0.8 * FINE.seconds(TrainerAssist.OFF)
    assert search <= 1.01 * FINE.seconds(TrainerAssist.GREEDY)


def test_every_prediction_of_a_strict_run_comes_true_or_better_and_is_settled() -> None:
    scheduler = FINE.scheduler(TrainerAssist.SEARCH)
    FINE.simulate(scheduler)
    assert scheduler.lends
    assert scheduler.settled.keys() == scheduler.lends.keys()
    for number, lend in scheduler.lends.items():
        assert lend.predicted_gain_seconds is not None
        assert lend.predicted_gain_seconds > 0
        assert scheduler.settled[number].realised_gain_seconds >= lend.predicted_gain_seconds - AS_EXACT


def test_the_realised_gain_is_the_predicted_end_without_lending_less_the_real_end() -> None:
    one_batch = replace(FINE, num_batches=1)
    scheduler = one_batch.scheduler(TrainerAssist.SEARCH)
    saved = one_batch.seconds(TrainerAssist.OFF) - one_batch.simulate(scheduler)
    assert scheduler.settled[1].realised_gain_seconds == pytest.approx(saved)


def test_nothing_is_lent_until_generation_scoring_and_training_are_priced() -> None:
    scheduler = FINE.scheduler(TrainerAssist.SEARCH, knows_costs=False)
    seconds = FINE.simulate(scheduler)
    assert scheduler.lends[1].batch == 0
    assert seconds < FINE.seconds(TrainerAssist.OFF)


@pytest.mark.parametrize("profile", [FINE, replace(FINE, num_trainer=4, is_heterogeneous=True)])
def test_lanes_that_lend_together_all_go_or_none(profile: Profile) -> None:
    scheduler = profile.scheduler(TrainerAssist.SEARCH, lends_together=True)
    assert profile.simulate(scheduler) <= 1.01 * profile.seconds(TrainerAssist.OFF)
    assert {len(lend.lanes) for lend in scheduler.lends.values()} == {profile.num_trainer}


def test_the_same_run_is_decided_alike() -> None:
    profile = replace(FINE, is_heterogeneous=True, max_staleness=1)
    first, second = (profile.scheduler(TrainerAssist.SEARCH) for _ in range(2))
    assert profile.simulate(first, noisy(1)) == profile.simulate(second, noisy(1))
    assert first.lends == second.lends


@pytest.mark.parametrize("budget", [0, 3_000, 10_000, 30_000])
def test_a_search_cut_short_is_counted_and_decides_by_what_it_has_seen(budget: int) -> None:
    off = FINE.seconds(TrainerAssist.OFF)
    policy = Search(budget=budget)
    scheduler = FINE.scheduler(TrainerAssist.SEARCH, policy=policy)
    assert FINE.simulate(scheduler) <= 1.01 * off
    assert 0 < policy.num_truncated <= policy.num_searches
    assert bool(scheduler.lends) is (budget > 3_000)


def test_no_search_of_a_small_pool_is_cut_short() -> None:
    for profile in grid()[::180]:
        policy = Search()
        profile.simulate(profile.scheduler(TrainerAssist.SEARCH, policy=policy))
        assert policy.num_truncated == 0


# --- the forecast ---------------------------------------------------------------------------------------------------


class Watching:
    """Lends nothing, and writes down when it would expect the batch to end."""

    def __init__(self) -> None:
        self._reader = InitialStateReader()
        self.ends: list[tuple[int, float]] = []

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        initial = self._reader.read(state, at)
        assert initial is not None
        _, forecast = extend(initial, (), loans_now(initial.lendable_lanes, (), 0))
        self.ends += [(initial.first_batch + index, at + end) for index, end in enumerate(forecast.ends)]
        return None


def forecast_errors(profile: Profile) -> list[float]:
    """Of every batch's end, predicted in every bubble of a run without lending; as shares of the run."""
    watching = Watching()
    published: list[float] = []

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            published.append(at)

    seconds = profile.simulate(profile.scheduler(TrainerAssist.SEARCH, policy=watching), observe=observe)
    return [abs(end - published[batch]) / seconds for batch, end in watching.ends]


def test_forecasts_of_strict_runs_come_true() -> None:
    strict = [profile for profile in grid()[::24] if profile.max_staleness == 0]
    errors = [error for profile in strict for error in forecast_errors(profile)]
    assert len(errors) > 100
    assert max(errors) < 1e-9


def test_forecasts_at_staleness_1_come_true_within_a_hundredth_on_average() -> None:
    stale = [profile for profile in grid()[::24] if profile.max_staleness == 1]
    errors = [error for profile in stale for error in forecast_errors(profile)]
    assert len(errors) > 100
    print(max(errors), sum(errors) / len(errors))
    assert sum(errors) / len(errors) < 0.01


# --- the two queues -------------------------------------------------------------------------------------------------

moments = st.floats(0, 5).map(lambda seconds: round(seconds, 1))
durations = st.sampled_from([0.1, 0.5, 1.0, 1.7])


@given(free=st.lists(moments, min_size=1, max_size=4), seconds=st.data(), num_fragments=st.integers(0, 12))
def test_fragments_start_when_lanes_that_pull_one_by_one_start_them(
    free: list[float], seconds: st.DataObject, num_fragments: int
) -> None:
    each = [seconds.draw(durations) for _ in free]
    unbounded = np.full(len(free), np.inf)
    lanes = GeneratingLanes(np.array(free), np.array(free), np.array(each), unbounded, unbounded)
    start, lane = starts(lanes, num_fragments)
    pulled, now = [], list(free)
    for _ in range(num_fragments):
        first = min(range(len(now)), key=now.__getitem__)
        pulled.append(now[first])
        now[first] += each[first]
    assert start == pytest.approx(pulled)
    assert np.bincount(lane, minlength=len(free)).sum() == num_fragments


@given(
    free=st.lists(moments, min_size=1, max_size=4),
    each=durations,
    fragments=st.lists(st.tuples(moments, st.integers(0, 5)), min_size=1, max_size=20),
)
def test_each_group_is_scored_when_lanes_that_take_the_lowest_one_first_have_scored_it(
    free: list[float], each: float, fragments: list[tuple[float, int]]
) -> None:
    generated, groups = np.array([at for at, _ in fragments]), np.array([group for _, group in fragments])
    scored = ScoringLanes(np.array(free), np.full(len(free), each)).scored(generated, groups)
    done, now = {}, list(free)
    waiting = list(range(len(fragments)))
    while waiting:
        first = min(range(len(now)), key=now.__getitem__)
        at = max(now[first], min(generated[waiting]))
        arrived = [place for place in waiting if generated[place] <= at + AS_EXACT]
        taken = min(arrived, key=lambda place: (groups[place], generated[place]))
        waiting.remove(taken)
        now[first] = done[taken] = at + each
    for group in set(groups.tolist()):
        of_group = np.flatnonzero(groups == group)
        assert max(scored[of_group]) == pytest.approx(max(done[place] for place in of_group.tolist()))


@given(
    num_lanes=st.integers(2, 12),
    spread=st.floats(0.0, 0.3),
    load=st.sampled_from([0.3, 0.9, 1.0, 3.0]),
    seed=st.integers(0, 9),
)
def test_many_fragments_are_scored_about_as_soon_as_lanes_of_unlike_speed_score_them(
    num_lanes: int, spread: float, load: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    number = 300
    seconds = 1.0 + spread * random.uniform(-1, 1, num_lanes)
    generated = np.sort(random.uniform(0, number / num_lanes / load, number))
    groups = np.arange(number) // 4
    lanes = ScoringLanes(np.zeros(num_lanes), seconds)
    one_by_one = lanes._one_by_one(generated.tolist(), groups.tolist())
    # A fragment's own seconds differ by the spread, and its place in a queue by a fragment or two.
    assert lanes.scored(generated, groups) == pytest.approx(one_by_one, abs=3.0)
    assert lanes.scored(generated, groups).max() == pytest.approx(max(one_by_one), abs=1.5)
