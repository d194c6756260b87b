"""`tag: search` lends where that ends batches sooner and nowhere else."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.bench.search_grid import Profile, grid, noisy
from worker.contracts.names import TrainerAssist
from worker.scheduling.forecast.search import Search

ROUNDING = 1e-6
"""Seconds by which sums of the same durations in another order may differ."""
COARSE = Profile(
    generation_to_training=2.0,
    num_groups=2,
    fragments_in_group=1,
    switch_seconds=1.0,
    score_seconds=0.02,
    num_rollout=2,
    num_trainer=1,
)
"""A fragment is half of the batch."""
FINE = replace(COARSE, num_groups=8, fragments_in_group=4, switch_seconds=0.1, generation_to_training=4.0)


def ratio(profile: Profile) -> float:
    return profile.seconds(TrainerAssist.SEARCH) / profile.seconds(TrainerAssist.OFF)


def worse_than_off(profiles: Sequence[Profile]) -> dict[Profile, float]:
    ratios = {profile: ratio(profile) for profile in profiles}
    return {profile: value for profile, value in ratios.items() if value > 1.01}


def test_with_exact_costs_search_is_nowhere_slower_than_off() -> None:
    assert not worse_than_off(grid()[::72])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(48))
def test_with_exact_costs_search_is_nowhere_slower_than_off_on_the_whole_grid(part: int) -> None:
    assert not worse_than_off(grid()[part::48])


@pytest.mark.parametrize("tag", [TrainerAssist.GREEDY, TrainerAssist.SEARCH])
def test_a_coarse_fragment_is_left_to_rollout_lanes_that_end_it_sooner(tag: TrainerAssist) -> None:
    assert COARSE.seconds(tag) == COARSE.seconds(TrainerAssist.OFF)


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
        assert lend.least_gain_seconds is not None
        assert lend.predicted_gain_seconds >= lend.least_gain_seconds > 0
        assert scheduler.settled[number].realised_gain_seconds >= lend.predicted_gain_seconds - ROUNDING


def test_the_realised_gain_is_the_predicted_end_without_lending_less_the_real_end() -> None:
    one_batch = replace(FINE, num_batches=1)
    scheduler = one_batch.scheduler(TrainerAssist.SEARCH)
    saved = one_batch.seconds(TrainerAssist.OFF) - one_batch.simulate(scheduler)
    assert scheduler.settled[1].realised_gain_seconds == pytest.approx(saved)


def test_nothing_is_lent_until_generation_scoring_and_training_have_costs() -> None:
    scheduler = FINE.scheduler(TrainerAssist.SEARCH, knows_costs=False)
    seconds = FINE.simulate(scheduler)
    assert scheduler.lends[1].batch == 0
    assert seconds < FINE.seconds(TrainerAssist.OFF)


@pytest.mark.parametrize("profile", [FINE, replace(FINE, num_trainer=4, is_heterogeneous=True)])
def test_lanes_that_are_lent_together_all_go_or_none(profile: Profile) -> None:
    scheduler = profile.scheduler(TrainerAssist.SEARCH, lends_together=True)
    assert profile.simulate(scheduler) <= 1.01 * profile.seconds(TrainerAssist.OFF)
    assert {len(lend.lanes) for lend in scheduler.lends.values()} == {profile.num_trainer}


def test_equal_runs_are_decided_equally() -> None:
    profile = replace(FINE, is_heterogeneous=True, max_staleness=1)
    first, second = (profile.scheduler(TrainerAssist.SEARCH) for _ in range(2))
    assert profile.simulate(first, noisy(1)) == profile.simulate(second, noisy(1))
    assert first.lends == second.lends


@pytest.mark.parametrize("budget", [0, 3_000, 10_000, 30_000])
def test_a_truncated_search_is_counted_and_decides_by_what_it_has_tried(budget: int) -> None:
    off = FINE.seconds(TrainerAssist.OFF)
    policy = Search(budget=budget)
    scheduler = FINE.scheduler(TrainerAssist.SEARCH, policy=policy)
    assert FINE.simulate(scheduler) <= 1.01 * off
    assert 0 < policy.num_truncated <= policy.num_searches
    assert bool(scheduler.lends) is (budget > 3_000)


def test_no_search_of_a_small_pool_is_truncated() -> None:
    for profile in grid()[::180]:
        policy = Search()
        profile.simulate(profile.scheduler(TrainerAssist.SEARCH, policy=policy))
        assert policy.num_truncated == 0
