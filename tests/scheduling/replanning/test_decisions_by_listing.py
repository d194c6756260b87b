"""A decision on how a run goes on does not depend on the order in which its lanes are listed."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.random_pools import random_pool
from tests.scheduling.planning.synthetic_pools import (
    ALIKE,
    FOUR_KINDS,
    OPPOSITE_TALENTS,
    described,
    lane,
    pool,
    request_for,
    shuffled,
)
from tests.slow_params import examples
from worker.contracts.names import Placement, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.candidate_simulation import Candidate
from worker.scheduling.planning.planner import PlanRequest
from worker.scheduling.replanning.decision import Decision, Situation, decide

MIXED = (8000, 8008, 8010, 8016, 8019, 8020, 8036, 8042)
"""Random pools of 3 to 7 lanes of several kinds, half of them on cards that differ in memory."""
ORDERS = st.randoms(use_true_random=False)
TAGS = st.sampled_from([TrainerAssist.OFF, TrainerAssist.GREEDY])


def situation(request: PlanRequest, trainers: tuple[int, ...], tag: TrainerAssist, **changes: object) -> Situation:
    staleness = request.wanted.max_staleness
    pipeline = PipelineSpec(placement=Placement.DISAGGREGATED, max_staleness=staleness, tag=tag)
    present = Candidate(pipeline=pipeline, trainers=trainers, fragment_size=request.fragment_sizes[0])
    fields = {"request": request, "present": present, "can_lend": True, "batches_left": 50, "move_seconds": 70.0}
    return Situation(**(fields | changes))  # type: ignore[arg-type]


def listed_otherwise(asked: Situation, order: list[int]) -> Situation:
    """The same situation with lane `order[place]` at each place."""
    place_of = {old: new for new, old in enumerate(order)}
    trainers = tuple(sorted(place_of[old] for old in asked.present.trainers))
    return replace(
        asked,
        request=shuffled(asked.request, order),
        present=replace(asked.present, trainers=trainers),
        speeds=tuple(asked.speeds[old] for old in order) if asked.speeds else (),
    )


def in_words(asked: Situation, decision: Decision) -> tuple[object, ...]:
    """The decision, with lanes by what they are."""
    after = decision.candidate
    lanes = (described(asked.request, found) for found in (after.trainers, decision.release, decision.slow))
    seconds = decision.seconds_before, decision.batch_seconds
    return (*seconds, decision.is_change, decision.renews_gang, after.pipeline, after.fragment_size, *lanes)


def check_that_another_order_gives_the_same_decision(asked: Situation, random: Random) -> None:
    order = list(range(len(asked.request.devices)))
    random.shuffle(order)
    other = listed_otherwise(asked, order)
    assert in_words(other, decide(other)) == in_words(asked, decide(asked))


def some_lanes(request: PlanRequest, random: Random) -> tuple[int, ...]:
    number = len(request.devices)
    return tuple(sorted(random.sample(range(number), random.randint(1, number - 1))))


@settings(max_examples=examples(2, 6))
@given(random=ORDERS, kinds=st.sampled_from([FOUR_KINDS, OPPOSITE_TALENTS]), max_staleness=st.integers(0, 1), tag=TAGS)
def test_lanes_of_several_kinds(
    random: Random, kinds: tuple[tuple[float, float], ...], max_staleness: int, tag: TrainerAssist
) -> None:
    request = request_for(pool(kinds, [2] * len(kinds)), num_prompts=8)
    wanted = request.wanted.model_copy(update={"max_staleness": max_staleness})
    request = replace(request, wanted=wanted, fragment_sizes=(2, 4))
    check_that_another_order_gives_the_same_decision(situation(request, some_lanes(request, random), tag), random)


@settings(max_examples=examples(2, 6))
@given(random=ORDERS, seed=st.sampled_from(MIXED), tag=TAGS)
def test_lanes_on_cards_of_different_memory(random: Random, seed: int, tag: TrainerAssist) -> None:
    request = random_pool(seed).request
    check_that_another_order_gives_the_same_decision(situation(request, some_lanes(request, random), tag), random)


@settings(max_examples=examples(2, 4))
@given(random=ORDERS, slower=st.lists(st.sampled_from([2.0, 6.0, 40.0, 200.0]), min_size=2, max_size=3), tag=TAGS)
def test_lanes_that_are_slow_by_different_factors(random: Random, slower: list[float], tag: TrainerAssist) -> None:
    lanes = (*pool(ALIKE, [4]), *(lane(10.0 * factor, 3.0 * factor) for factor in slower))
    request = replace(request_for(lanes, num_prompts=8), fragment_sizes=(4,))
    asked = situation(request, some_lanes(request, random), tag, speeds=(1.0,) * 4 + tuple(slower))
    check_that_another_order_gives_the_same_decision(asked, random)


@pytest.mark.slow
@settings(max_examples=examples(2, 4))
@given(random=ORDERS, num_lanes=st.integers(65, 120), tag=TAGS)
def test_pools_of_more_than_64_lanes(random: Random, num_lanes: int, tag: TrainerAssist) -> None:
    lanes = pool(OPPOSITE_TALENTS, [num_lanes // 3 + 1] * 3)[:num_lanes]
    request = replace(request_for(lanes), fragment_sizes=(2, 4))
    check_that_another_order_gives_the_same_decision(situation(request, some_lanes(request, random), tag), random)
