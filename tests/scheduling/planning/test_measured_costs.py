"""Costs measured at one fragment size are never underestimated at others."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.strategies import algebra_of, shapes_work
from worker.contracts.names import TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.costs import (
    GANG,
    ConservativeCost,
    Cost,
    CostKind,
    MeasuredCost,
    MeasuredCostTable,
    dump_costs,
    parse_measured_costs,
)
from worker.scheduling.planning.candidate_simulation import simulate_candidate
from worker.scheduling.planning.cost_estimates import PoolCosts, lane_costs, pool_costs
from worker.scheduling.planning.measured_costs import costs_from_history
from worker.scheduling.planning.measured_work import observed_sizes
from worker.scheduling.planning.mode_limits import ModeLimits
from worker.scheduling.planning.modes import allowed_modes
from worker.scheduling.planning.split_search import SplitResult, SplitSearch
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, H20, H100, L40S, Accelerator
from worker.scheduling.profiles.image_models import QWEN_IMAGE, SHAPES
from worker.scheduling.profiles.scorer_costs import ScoringCost

SIZES = (1, 2, 4)
DEVICES = (CPU_CORE,) * 3
NUM_PLANS = 8
ROLLOUT, REWARD = ("rollout-0", CostKind.GENERATE), ("reward-0", CostKind.SCORE)

sizes = st.sampled_from(SIZES)
parts = st.floats(1e-4, 1.0)
shares = st.floats(0.0, 1.0)


def small_work() -> Workload:
    return replace(
        shapes_work(algebra_of(groups_per_minibatch=3, fragments=(2, 2))),
        num_denoising_steps=6,
        trained_parameters=SHAPES.lora_parameters(16),
        weight_bytes=4,
        scoring=ScoringCost(core_seconds=1e-4),
    )


def qwen_work() -> Workload:
    return replace(
        small_work(),
        profile=QWEN_IMAGE,
        trained_parameters=QWEN_IMAGE.lora_parameters(16),
        height=512,
        width=512,
        num_denoising_steps=20,
    )


def measured_at(cost: Cost, size: int) -> MeasuredCost:
    """The measured cost that a run reports which has worked with one size only."""
    costs = CostModel()
    for _ in range(3):
        costs.observe("rollout-0", CostKind.GENERATE, cost.seconds(size), size)
    return costs.measured()[ROLLOUT]


def costs_of(*history: MeasuredCostTable, has_profile: bool = True) -> PoolCosts:
    return costs_from_history(history, small_work(), DEVICES, num_reward=1, has_profile=has_profile)


# --- one size ---------------------------------------------------------------------------------------------------------


@given(size=sizes, other=sizes, fixed=parts, each=parts)
def test_the_cost_of_work_without_a_profile_is_never_underestimated(
    size: int, other: int, fixed: float, each: float
) -> None:
    truth = Cost(fixed, each)
    assumed = costs_of({ROLLOUT: measured_at(truth, size)}, has_profile=False).lanes[0].generate
    assert assumed.seconds(size) == pytest.approx(truth.seconds(size))
    assert assumed.seconds(other) >= truth.seconds(other) * (1 - 1e-9)


@given(size=sizes, other=sizes, total=parts, within=shares)
def test_a_cost_with_a_fixed_share_within_the_profiles_range_is_never_underestimated(
    size: int, other: int, total: float, within: float
) -> None:
    ends = [
        pool_costs(small_work(), DEVICES, num_reward=1, fixed_share=end).lanes[0].generate.fixed_share(size)
        for end in ("low", "high")
    ]
    truth = Cost.from_measurement(total, size, ends[0] + within * (ends[1] - ends[0]))
    assumed = costs_of({ROLLOUT: measured_at(truth, size)}).lanes[0].generate
    assert assumed.seconds(size) == pytest.approx(total)
    assert assumed.seconds(other) >= truth.seconds(other) * (1 - 1e-9)


def test_a_smaller_fragment_keeps_the_profiles_fixed_part() -> None:
    assumed = costs_of({ROLLOUT: measured_at(Cost(0.08, 0.01), 4)}).lanes[0].generate
    assert assumed.seconds(4) == pytest.approx(0.12)
    share = pool_costs(small_work(), DEVICES, num_reward=1).lanes[0].generate.fixed_share(4)
    assert assumed.seconds(1) >= 0.12 * share > 0.03


# --- several sizes ----------------------------------------------------------------------------------------------------


@given(sizes=st.lists(sizes, min_size=2, max_size=4, unique=True), fixed=parts, each=parts, any_size=sizes)
def test_runs_of_two_sizes_determine_the_line(sizes: list[int], fixed: float, each: float, any_size: int) -> None:
    truth = Cost(fixed, each)
    assumed = costs_of(*({ROLLOUT: measured_at(truth, size)} for size in sizes), has_profile=False).lanes[0].generate
    assert assumed.seconds(any_size) == pytest.approx(truth.seconds(any_size))


def test_the_newest_run_sets_the_level_and_the_newest_measurement_of_a_size_counts() -> None:
    now, before, long_ago = Cost(0.2, 0.1), Cost(0.2, 0.1), Cost(9.0, 9.0)
    history = [{ROLLOUT: measured_at(now, 4)}, {ROLLOUT: measured_at(before, 2)}, {ROLLOUT: measured_at(long_ago, 2)}]
    assert costs_of(*history).lanes[0].generate.seconds(1) == pytest.approx(now.seconds(1))
    shape = {ROLLOUT: MeasuredCost(Cost(1.0, 1.0), 1, 4)}
    assumed = costs_of({ROLLOUT: measured_at(Cost(0.0, 1.0), 4)}, shape).lanes[0].generate
    assert [assumed.per_call, assumed.per_unit] == pytest.approx([0.8, 0.8])


def test_runs_that_contradict_each_other_determine_no_line() -> None:
    slower_for_less = [{ROLLOUT: measured_at(Cost(1.0), 4)}, {ROLLOUT: measured_at(Cost(2.0), 2)}]
    assert isinstance(costs_of(*slower_for_less).lanes[0].generate, ConservativeCost)
    assert costs_of(*slower_for_less).lanes[0].generate.seconds(4) == pytest.approx(1.0)


def test_kinds_that_never_occurred_stay_as_expected_and_different_lanes_keep_their_proportions() -> None:
    work = qwen_work()
    expected = pool_costs(work, [H100, L40S], num_reward=1)
    table = {
        ROLLOUT: MeasuredCost(Cost(1.0, 2.0), 1, 4),
        ("rollout-1", CostKind.GENERATE): MeasuredCost(Cost(3.0, 4.0), 1, 4),
        (GANG, CostKind.PUBLISH): MeasuredCost(Cost(0.0, 7.0), 1, 1),
    }
    found = costs_from_history([table], work, [H100, L40S], num_reward=1)
    assert sum(lane.generate.seconds(4) for lane in found.lanes) / 2 == pytest.approx(2.0 + 3.0 * 4)
    ratios = [pool.lanes[1].generate.seconds(4) / pool.lanes[0].generate.seconds(4) for pool in (found, expected)]
    assert ratios[0] == pytest.approx(ratios[1])
    assert [lane.publish for lane in found.lanes] == [7.0, 7.0]
    assert [lane.lend for lane in found.lanes] == [lane.lend for lane in expected.lanes]
    assert found.score == expected.score


# --- by kind of device ------------------------------------------------------------------------------------------------

factors = st.floats(0.3, 3.0)


def on_cards(table: MeasuredCostTable, *devices: Accelerator) -> PoolCosts:
    return costs_from_history([table], qwen_work(), devices, num_reward=1)


@given(generate=factors, accumulate=factors)
def test_a_device_costs_what_was_measured_on_it_whatever_lanes_the_pool_has(generate: float, accumulate: float) -> None:
    expected = lane_costs(qwen_work(), H100)
    table = {
        ("h100", CostKind.GENERATE): MeasuredCost(expected.generate.scaled(generate), 1, 4),
        ("h100", CostKind.ACCUMULATE): MeasuredCost(expected.accumulate.scaled(accumulate), 1, 4),
        ("h100", CostKind.PULL): MeasuredCost(Cost(0.25), 1, 1),
    }
    for pool in ([H100], [H100, L40S], [L40S, H100, L40S, L40S]):
        found = on_cards(table, *pool).lanes[pool.index(H100)]
        assert found.generate.seconds(4) == pytest.approx(expected.generate.seconds(4) * generate)
        assert found.accumulate.seconds(2) == pytest.approx(expected.accumulate.seconds(2) * accumulate)
        assert found.pull == 0.25


@given(generate=factors, accumulate=factors)
def test_estimates_of_a_device_that_was_not_measured_are_off_by_as_much_as_others(
    generate: float, accumulate: float
) -> None:
    """A run whose H100 trained and whose L40S generated, and then a pool of other cards altogether."""
    h100, l40s, h20 = (lane_costs(qwen_work(), device) for device in (H100, L40S, H20))
    table = {
        ("l40s", CostKind.GENERATE): MeasuredCost(l40s.generate.scaled(generate), 4, 4),
        ("h100", CostKind.ACCUMULATE): MeasuredCost(h100.accumulate.scaled(accumulate), 1, 4),
    }
    for found, expected in zip(on_cards(table, H100, L40S, H20).lanes, (h100, l40s, h20), strict=True):
        assert found.generate.seconds(4) == pytest.approx(expected.generate.seconds(4) * generate)
        assert found.accumulate.seconds(2) == pytest.approx(expected.accumulate.seconds(2) * accumulate, rel=0.05)
    (alone,) = on_cards(table, H20).lanes
    assert alone.generate.seconds(4) == pytest.approx(h20.generate.seconds(4) * generate)


def test_the_newest_run_of_each_device_counts() -> None:
    def run(device: str, seconds: float) -> MeasuredCostTable:
        return {(device, CostKind.GENERATE): MeasuredCost(Cost(0.0, seconds / 4), 4, 4)}

    history = [run("h100", 4.0), run("l40s", 20.0), run("h100", 8.0)]
    found = costs_from_history(history, qwen_work(), [H100, L40S], num_reward=1).lanes
    assert [lane.generate.seconds(4) for lane in found] == pytest.approx([4.0, 20.0])


def test_measured_costs_are_parsed_with_their_sizes() -> None:
    costs = CostModel({REWARD: Cost(1.0)})
    costs.observe("rollout-0", CostKind.GENERATE, 8.0, 4)
    parsed = parse_measured_costs(dump_costs(costs.measured()))
    assert parsed == {ROLLOUT: MeasuredCost(Cost(0.0, 2.0), 4, 4, math.inf)}
    costs.observe("rollout-0", CostKind.GENERATE, 6.0, 2)
    parsed = parse_measured_costs(dump_costs(costs.measured()))
    assert (parsed[ROLLOUT].fewest_units, parsed[ROLLOUT].most_units) == (2, 4)
    assert observed_sizes([parsed, {REWARD: MeasuredCost(Cost(), 1, 1)}]) == (2, 4)


# --- the plans made from them -----------------------------------------------------------------------------------------


def planned(costs: PoolCosts, fragment_sizes: tuple[int, ...], *, max_staleness: int) -> SplitResult:
    """The best of all modes, as the planner finds it; lending by search is left out, because simulating it takes
    long."""
    wanted = PipelineSpec.model_validate({"placement": "auto", "max_staleness": max_staleness})
    limits = ModeLimits(work=small_work(), costs=costs, devices=DEVICES, fragment_sizes=fragment_sizes)
    split_search = SplitSearch(limits)
    modes = [
        replace(mode, tags=tuple(tag for tag in mode.tags if tag is not TrainerAssist.SEARCH))
        for mode in allowed_modes(wanted)
    ]
    findings = [split_search.find(mode, wanted, share=1 / (len(modes) - index)) for index, mode in enumerate(modes)]
    return min(
        (split_result for split_result in findings if split_result is not None),
        key=lambda split_result: split_result.batch_seconds,
    )


def true_seconds(split_result: SplitResult, truth: PoolCosts) -> float:
    """The seconds of a batch at the true costs."""
    num_batches = 12 if split_result.candidate.pipeline.max_staleness else 1
    result = simulate_candidate(
        small_work(), truth, split_result.candidate, advantage_std="group", num_batches=num_batches
    )
    return result.batch_seconds


def check_no_plan_is_slower_than_the_best_known(
    observed: list[int], truth: PoolCosts, *, has_profile: bool, max_staleness: int
) -> None:
    lane = truth.lanes[0]
    always = {(GANG, CostKind.ACCUMULATE): MeasuredCost(lane.accumulate, 1, 2)}
    history = [
        {ROLLOUT: measured_at(lane.generate, size), REWARD: measured_at(truth.score, size)} | always
        for size in observed
    ]
    found = costs_of(*history, has_profile=has_profile)
    chosen = planned(found, SIZES, max_staleness=max_staleness)
    best_known = planned(truth, tuple(sorted(observed)), max_staleness=max_staleness)
    assert true_seconds(chosen, truth) <= 1.02 * true_seconds(best_known, truth)


@settings(max_examples=NUM_PLANS)
@given(
    observed=st.lists(sizes, min_size=1, max_size=2, unique=True),
    generate=st.tuples(parts, parts),
    score=st.tuples(parts, parts),
    accumulate=parts,
    max_staleness=st.integers(0, 1),
)
def test_no_plan_is_slower_than_the_best_at_the_sizes_known_whatever_the_truth(
    observed: list[int],
    generate: tuple[float, float],
    score: tuple[float, float],
    accumulate: float,
    max_staleness: int,
) -> None:
    expected = pool_costs(small_work(), DEVICES, num_reward=1)
    lane = replace(expected.lanes[0], generate=Cost(*generate), accumulate=Cost(0.0, accumulate))
    truth = replace(expected, lanes=(lane,) * len(DEVICES), score=Cost(*score).scaled(0.1))
    check_no_plan_is_slower_than_the_best_known(observed, truth, has_profile=False, max_staleness=max_staleness)


@settings(max_examples=NUM_PLANS)
@given(observed=sizes, within=st.tuples(shares, shares), total=parts, score=parts, max_staleness=st.integers(0, 1))
def test_no_plan_is_slower_than_the_best_at_the_sizes_known_where_the_profiles_range_holds(
    observed: int, within: tuple[float, float], total: float, score: float, max_staleness: int
) -> None:
    expected, low, high = (
        pool_costs(small_work(), DEVICES, num_reward=1, fixed_share=end) for end in (None, "low", "high")
    )

    def cost_of(least: Cost, most: Cost, total: float, within: float) -> Cost:
        share = least.fixed_share(observed)
        return Cost.from_measurement(total, observed, share + within * (most.fixed_share(observed) - share))

    generate = cost_of(low.lanes[0].generate, high.lanes[0].generate, total, within[0])
    truth = replace(
        expected,
        lanes=(replace(expected.lanes[0], generate=generate),) * len(DEVICES),
        score=cost_of(low.score, high.score, 0.1 * score, within[1]),
    )
    check_no_plan_is_slower_than_the_best_known([observed], truth, has_profile=True, max_staleness=max_staleness)
