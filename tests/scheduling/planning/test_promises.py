"""Plans of pools up to 512 lanes promise what a simulation of their choice takes, and plans beyond say so."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.planning.synthetic_pools import FOUR_KINDS, OPPOSITE_TALENTS, lane, pool, request_for
from tests.slow_params import slow_but
from worker.contracts.names import TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning import split_search
from worker.scheduling.planning.candidate_simulation import Candidate, SearchTooLongError, simulate_candidate
from worker.scheduling.planning.planner import PlanRequest, make_plan
from worker.scheduling.planning.scaled_pools import ScaledPool
from worker.scheduling.planning.split_search import MAX_FRAGMENTS, SplitSearch

UNEQUAL = ((4.1, 5.3), (8.7, 3.7), (12.9, 2.3))
"""Seconds of a trajectory and of a micro-batch that are no multiples of each other: of equal moments the order of
lanes would decide, which is the pool's in a run and that of kinds in a plan."""


def wanting(request: PlanRequest, *, max_staleness: int = 1, equal_counts: bool = False) -> PlanRequest:
    wanted = PipelineSpec.model_validate({"placement": "auto", "max_staleness": max_staleness})
    return replace(request, wanted=wanted, costs=replace(request.costs, equal_counts=equal_counts))


def seconds_at_length(request: PlanRequest, candidate: Candidate) -> float:
    """A batch on average over 16, or over 3 with lending by search, which takes minutes otherwise."""
    num_batches = 3 if candidate.pipeline.tag is TrainerAssist.SEARCH else 16
    return simulate_candidate(
        request.work, request.costs, candidate, advantage_std="group", num_batches=num_batches, with_shares=False
    ).batch_seconds


@pytest.mark.parametrize(("max_staleness", "equal_counts"), slow_but([(1, False)], [(0, False), (0, True), (1, False)]))
def test_the_best_modes_promise_for_96_mixed_lanes_is_what_many_batches_take(
    max_staleness: int, equal_counts: bool
) -> None:
    request = wanting(request_for(pool(UNEQUAL, [32] * 3)), max_staleness=max_staleness, equal_counts=equal_counts)
    plan = make_plan(request)
    assert all(choice.split_result.result is not None for choice in plan.by_mode.values())
    best = plan.best.split_result
    assert best.batch_seconds == pytest.approx(seconds_at_length(request, best.candidate), rel=0.03)


@pytest.mark.slow
def test_every_mode_is_simulated_for_512_lanes_and_no_more_than_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    find = SplitSearch.find

    def recorded(search: SplitSearch, *args: object, **options: object) -> object:
        found = find(search, *args, **options)  # type: ignore[arg-type]
        spent.append(search._simulations.spent)
        return found

    monkeypatch.setattr(split_search.SplitSearch, "find", recorded)
    plan = make_plan(wanting(request_for(pool(FOUR_KINDS, [128] * 4))))
    assert all(choice.split_result.result is not None for choice in plan.by_mode.values())
    assert max(spent) <= MAX_FRAGMENTS


def drawn(seed: int, num_lanes: int) -> PlanRequest:
    """A pool that nobody tuned for: so many lanes of 1 to 5 kinds that differ by up to ten times in each kind of work,
    8 fragments and 16 micro-batches for each lane."""
    random = Random(seed)
    kinds = [(3.0 * 10 ** random.random(), 10 ** random.random()) for _ in range(random.randint(1, 5))]
    borders = sorted(random.sample(range(1, num_lanes), len(kinds) - 1))
    numbers = [until - since for since, until in zip([0, *borders], [*borders, num_lanes], strict=True)]
    return wanting(request_for(pool(kinds, numbers)), max_staleness=random.randint(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("num_lanes", [256, 512])
@pytest.mark.parametrize("seed", range(4))
def test_promises_for_random_pools_of_hundreds_of_lanes_are_what_many_batches_take(seed: int, num_lanes: int) -> None:
    request = drawn(seed, num_lanes)
    for name, choice in make_plan(request).by_mode.items():
        promised = choice.split_result
        assert promised.result is not None, name
        assert promised.batch_seconds == pytest.approx(seconds_at_length(request, promised.candidate), rel=0.03), name


@pytest.mark.slow
@pytest.mark.parametrize("equal_counts", [False, True])
def test_an_estimate_beyond_512_lanes_is_close_to_a_simulation(equal_counts: bool) -> None:
    request = wanting(request_for(pool(OPPOSITE_TALENTS, [200] * 3)), max_staleness=0, equal_counts=equal_counts)
    plan = make_plan(request)
    for mode, choice in plan.by_mode.items():
        found = choice.split_result
        assert found.result is None
        simulated = simulate_candidate(
            request.work, request.costs, found.candidate, advantage_std="group", with_shares=False
        )
        assert found.batch_seconds == pytest.approx(simulated.batch_seconds, rel=0.05), mode
    assert not any(point.is_simulated for points in plan.curves.values() for point in points)
    for mode, points in plan.curves.items():
        least = min(point.batch_seconds for point in points)
        assert least == pytest.approx(plan.by_mode[mode].split_result.batch_seconds), f"{mode} is its fastest split"


@settings(max_examples=25)
@given(
    numbers=st.lists(st.integers(1, 900), min_size=1, max_size=6).filter(lambda numbers: sum(numbers) > 64),
    num_prompts=st.integers(8, 900),
    data=st.data(),
)
def test_a_pool_in_small_keeps_kinds_and_gives_back_the_shares_that_train(
    numbers: Sequence[int], num_prompts: int, data: st.DataObject
) -> None:
    kinds = [(4.0 + index, 6.0 - 0.5 * index) for index in range(len(numbers))]
    limits = request_for(pool(kinds, numbers), num_prompts=num_prompts).limits()
    scaled = ScaledPool.of(limits)
    assert scaled is not None
    small = scaled.limits
    assert small.kinds.number.size == limits.kinds.number.size
    assert len(small.costs.lanes) <= 64
    algebra = small.work.algebra
    assert algebra.num_groups * algebra.group_size == algebra.num_trajectories
    assert algebra.num_fragments * algebra.fragment_size == algebra.num_trajectories
    chosen = data.draw(st.sets(st.integers(0, len(small.costs.lanes) - 1)))
    split = scaled.in_large(Candidate(pipeline=PipelineSpec(), trainers=tuple(chosen), fragment_size=1))
    assert all(0 <= training <= number for training, number in zip(split.trainers, limits.kinds.number, strict=True))
    everyone = tuple(range(len(small.costs.lanes)))
    full = scaled.in_large(Candidate(pipeline=PipelineSpec(), trainers=everyone, fragment_size=1))
    assert list(full.trainers) == limits.kinds.number.tolist()


def test_lanes_of_too_many_kinds_cannot_be_made_small() -> None:
    lanes = [lane(10.0 + index, 3.0) for index in range(70)]
    assert ScaledPool.of(request_for(lanes).limits()) is None


def test_a_simulation_that_stops_early_gives_the_seconds_of_one_that_goes_on() -> None:
    request = request_for(pool(UNEQUAL, [3] * 3))
    pipeline = PipelineSpec.model_validate({"placement": "disaggregated", "gap": True, "tsp": True})
    candidate = Candidate(pipeline=pipeline, trainers=(6, 7, 8), fragment_size=2)

    def seconds(num_batches: int) -> float:
        result = simulate_candidate(
            request.work, request.costs, candidate, advantage_std="group", num_batches=num_batches
        )
        return result.batch_seconds

    assert seconds(1) == pytest.approx(seconds(5))


def test_lending_by_search_ends_without_a_result_where_its_forecasts_take_too_long() -> None:
    request = request_for(pool(UNEQUAL, [3] * 3))
    pipeline = PipelineSpec.model_validate(
        {"placement": "disaggregated", "gap": True, "tsp": True, "tag": TrainerAssist.SEARCH}
    )
    candidate = Candidate(pipeline=pipeline, trainers=(4, 6, 7, 8), fragment_size=2)
    full = simulate_candidate(request.work, request.costs, candidate, advantage_std="group")
    assert full.search_size > 0
    with pytest.raises(SearchTooLongError, match="at most 1"):
        simulate_candidate(request.work, request.costs, candidate, advantage_std="group", max_search_size=1)
