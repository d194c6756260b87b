"""Plans of pools drawn from a seed keep what is promised of them: a share of the bound, or of the best of all splits.

`tests.bench.robust` runs more of them and reports the distribution.
"""

import math
from dataclasses import replace

import pytest

from tests.bench.pool_shares import share_of_seed
from tests.bench.random_pools import random_pool
from worker.scheduling.profiles.hardware import H100

NEVER_TUNED_ON = 500_000
"""The first of the seeds that no one has looked at while the planner was changed."""

A_FEW = (10, 18, 22, 24, 29, 31, 500147)
"""Pools of each kind that every run of the tests plans, which take the least time, and one that was missed once: some
8 s of a core."""
NUM_POOLS, NUM_AT_ONCE = 240, 24
"""Pools that the slow tests plan, in all and in each: 3 s of a core for one."""
NUM_MISSED = 1
"""Of the pools of one slow test, those in which a plan may miss a better split: of seeds 4000 to 4083 none did."""
MISSED_ONCE = (28, 50, 2007, 2020, 2039, 2221, 2230, 500147)
"""Plans reached 79 to 97 % of the best of all splits: the first two since lending by search spent what finalists need,
2007 and 2230 since the fragment sizes with the lowest limits were tried alone, 500147 since the fastest split was not
tried with lending where its climbs took too long, the others since only neighbours of slow splits were tried."""


def test_a_seed_gives_the_same_pool_and_others_differ() -> None:
    assert random_pool(7) == random_pool(7)
    assert len({len(random_pool(seed).request.devices) for seed in range(40)}) > 10
    assert {random_pool(seed).promise for seed in range(40)} == {"alike", "mixed", "small"}


def test_some_pools_lack_memory_to_train_to_generate_or_to_do_both() -> None:
    lacking = set()
    for seed in range(120):
        request = random_pool(seed).request
        limits = request.limits()
        for size in request.fragment_sizes:
            kinds = limits.kinds_for(size, request.wanted.max_staleness)
            trains, does_both = (kinds.ranks_to_train <= kinds.num_lanes), kinds.ranks_to_do_both <= kinds.num_lanes
            lacking |= {"generate"} if not kinds.can_generate.all() else set()
            lacking |= {"train"} if not trains.all() else set()
            lacking |= {"do both"} if (trains & kinds.can_generate & ~does_both).any() else set()
    assert lacking == {"generate", "train", "do both"}


def test_the_bound_counts_the_memory_that_each_staleness_takes() -> None:
    request = random_pool(1152).request
    # It trains at staleness 0 alone, where it may not generate in turn.
    (card,) = (device for device in set(request.devices) if device.name == "card of 45.2 GB")
    alike = replace(request, devices=(card,) * len(request.devices))
    assert alike.bound_seconds(1) == alike.bound_seconds(0) < math.inf
    with_all_memory = replace(request, devices=(H100,) * len(request.devices))
    assert with_all_memory.bound_seconds(1) < with_all_memory.bound_seconds(0)


def test_plans_keep_what_is_promised() -> None:
    assert not [share.line() for share in map(share_of_seed, A_FEW) if share.is_broken]


@pytest.mark.slow
@pytest.mark.parametrize("seed", MISSED_ONCE)
def test_pools_in_which_the_best_split_was_once_missed_have_plans_close_to_it(seed: int) -> None:
    assert not share_of_seed(seed).is_broken


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(NEVER_TUNED_ON, NEVER_TUNED_ON + NUM_POOLS, NUM_AT_ONCE))
def test_of_hundreds_of_pools_large_ones_keep_what_is_promised_and_nearly_all_small_ones(first: int) -> None:
    seeds = range(first, first + NUM_AT_ONCE)
    broken = [share for share in map(share_of_seed, seeds) if share.is_broken]
    assert not [share.line() for share in broken if share.promise != "small"]
    # Where work is coarse neighbouring splits differ by chance, and a search with a budget may miss the best.
    assert len(broken) <= NUM_MISSED
