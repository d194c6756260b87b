"""A plan does not depend on the order in which a pool's lanes are listed."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.random_pools import random_pool
from tests.scheduling.planning.synthetic_pools import (
    FOUR_KINDS,
    OPPOSITE_TALENTS,
    described,
    pool,
    request_for,
    shuffled,
)
from tests.slow_params import examples
from worker.scheduling.planning.planner import PlanRequest, make_plan

Kinds = tuple[tuple[float, float], ...]
ON_MIXED_CARDS = (8004, 8008, 8019, 8036, 8042, 8064, 8068, 8089)
"""Random pools of up to 11 lanes on cards some of which lack memory to train, to generate or to do both."""
ORDERS = st.randoms(use_true_random=False)


def check_that_another_order_gives_the_same_plan(request: PlanRequest, random: Random) -> None:
    order = list(range(len(request.devices)))
    random.shuffle(order)
    other = shuffled(request, order)
    plan, of_other = make_plan(request), make_plan(other)
    for name, choice in plan.by_mode.items():
        found, expected = of_other.by_mode[name].split_result, choice.split_result
        assert found.batch_seconds == expected.batch_seconds, name
        assert found.candidate.pipeline == expected.candidate.pipeline, name
        assert found.candidate.fragment_size == expected.candidate.fragment_size, name
        trainers = described(request, expected.candidate.trainers)
        assert described(other, found.candidate.trainers) == trainers, name
    assert plan.curves == of_other.curves
    assert plan.bound_seconds == of_other.bound_seconds
    assert plan.lock_step_bound_seconds == of_other.lock_step_bound_seconds


@settings(max_examples=examples(2, 5))
@given(random=ORDERS, kinds=st.sampled_from([FOUR_KINDS, OPPOSITE_TALENTS]))
def test_the_order_in_which_lanes_are_listed_does_not_matter(random: Random, kinds: Kinds) -> None:
    check_that_another_order_gives_the_same_plan(request_for(pool(kinds, [2] * len(kinds)), num_prompts=8), random)


@settings(max_examples=examples(2, 5))
@given(random=ORDERS, seed=st.sampled_from(ON_MIXED_CARDS))
def test_nor_does_it_where_cards_lack_memory(random: Random, seed: int) -> None:
    request = random_pool(seed).request
    assert len(set(request.devices)) > 1
    check_that_another_order_gives_the_same_plan(request, random)


@pytest.mark.slow
@settings(max_examples=4)
@given(
    random=ORDERS,
    kinds=st.sampled_from([FOUR_KINDS, OPPOSITE_TALENTS]),
    num_lanes=st.integers(65, 160),
)
def test_nor_does_it_in_pools_of_more_than_64_lanes(random: Random, kinds: Kinds, num_lanes: int) -> None:
    lanes = pool(kinds, [num_lanes // len(kinds) + 1] * len(kinds))[:num_lanes]
    check_that_another_order_gives_the_same_plan(request_for(lanes), random)
