"""`placement: auto` becomes a spec that can run, and is never slower than any other choice that was tried."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.random_costs import pools
from tests.scheduling.strategies import algebra_of, shapes_work
from tests.slow_params import examples
from worker.contracts.names import Placement, RewardDevice, RewardName, TrainerAssist
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.costs import GANG, Cost, CostKind, CostTable, MeasuredCost, MeasuredCostTable
from worker.scheduling.planning.candidate_simulation import Candidate, simulate_candidate
from worker.scheduling.planning.cost_estimates import PoolCosts, pool_costs
from worker.scheduling.planning.memory import MemoryRole
from worker.scheduling.planning.modes import MODES
from worker.scheduling.planning.planner import Plan, PlanRequest, make_plan, plan, resolve
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, H20, H100, L40S
from worker.scheduling.profiles.image_models import QWEN_IMAGE
from worker.scheduling.profiles.scorer_costs import ScoringCost


def spec(**sections: Any) -> RunSpec:
    document: dict[str, Any] = {
        "prompts": {"inline": [f"prompt {index}" for index in range(4)]},
        "rewards": [{"name": RewardName.SHAPE_MATCH}],
        "sampling": {"num_denoising_steps": 4},
        "batch": {"num_prompts_per_batch": 4, "group_size": 4, "micro_batch_size": 8},
        "lanes": {"num_rollout": 1, "num_trainer": 2, "num_reward": 1},
    }
    pipeline = {"placement": "auto", "max_staleness": 1}
    return RunSpec.model_validate(document | {"pipeline": pipeline} | sections)


def request(costs: PoolCosts, *, max_staleness: int = 1, sizes: tuple[int, ...] = (1, 2, 4)) -> PlanRequest:
    algebra = algebra_of(groups_per_minibatch=4, fragments=(4, 1))
    work = shapes_work(algebra)
    wanted = PipelineSpec.model_validate({"placement": "auto", "max_staleness": max_staleness})
    devices = (CPU_CORE,) * len(costs.lanes)
    return PlanRequest(work=work, devices=devices, costs=costs, wanted=wanted, fragment_sizes=sizes)


def qwen(devices: tuple[Any, ...], *, micro_batch_size: int = 2) -> PlanRequest:
    algebra = algebra_of(groups_per_minibatch=8, fragments=(4, 1)).model_copy(
        update={"micro_batch_size": micro_batch_size}
    )
    work = Workload(
        profile=QWEN_IMAGE,
        algebra=algebra,
        height=512,
        width=512,
        num_denoising_steps=20,
        trained_parameters=QWEN_IMAGE.lora_parameters(64),
        scoring=ScoringCost(flops=0.38e12),
        rewards_on=RewardDevice.OWN_GPU,
    )
    return PlanRequest(work=work, devices=devices, costs=pool_costs(work, devices, num_reward=2), fragment_sizes=(1, 2))


def observed(costs: CostTable) -> MeasuredCostTable:
    """Measured costs for which several sizes were observed."""
    return {key: MeasuredCost(cost, 1, 2) for key, cost in costs.items()}


def seconds_of(made: Plan) -> dict[str, float]:
    return {name: choice.split_result.batch_seconds for name, choice in made.by_mode.items()}


@pytest.mark.parametrize("max_staleness", [0, 1])
@pytest.mark.parametrize("num_rollout", [0, 1, 4])
def test_auto_becomes_a_concrete_spec_of_the_same_lanes(max_staleness: int, num_rollout: int) -> None:
    wanted = spec(
        pipeline={"placement": "auto", "max_staleness": max_staleness},
        lanes={"num_rollout": num_rollout, "num_trainer": 1, "num_reward": 2},
    )
    with_choice = resolve(wanted)
    assert with_choice.pipeline.placement is not Placement.AUTO
    assert with_choice.pipeline.max_staleness <= max_staleness
    granted = with_choice.granted_lanes
    assert granted.num_rollout + granted.num_trainer == num_rollout + 1
    assert granted.num_reward == 2
    assert RunSpec.from_yaml(with_choice.to_yaml()) == with_choice
    assert (
        with_choice.model_copy(update={"pipeline": wanted.pipeline, "lanes": wanted.lanes, "batch": wanted.batch})
        == wanted
    )


def test_a_spec_that_says_where_its_lanes_go_is_left_alone() -> None:
    concrete = spec(pipeline={"placement": "disaggregated"})
    assert resolve(concrete) is concrete


def test_a_fragment_size_that_the_user_chose_is_kept_and_an_empty_one_filled_in() -> None:
    batch = {"num_prompts_per_batch": 4, "group_size": 4}
    assert resolve(spec(batch=batch | {"fragment_size": 2})).batch.fragment_size == 2
    assert resolve(spec(batch=batch)).batch.fragment_size in (1, 2, 4)


def test_what_bounds_the_choice_is_carried_over() -> None:
    pipeline = {"placement": "auto", "max_staleness": 1, "importance_cap": 2.0, "deterministic": True}
    with_choice = resolve(spec(pipeline=pipeline)).pipeline
    assert with_choice.deterministic
    assert with_choice.importance_cap == (2.0 if with_choice.max_staleness else None)
    stored, sent = (resolve(spec(pipeline=pipeline | {"publishing": each})).pipeline for each in ("store", "direct"))
    assert sent.placement is Placement.DISAGGREGATED
    assert (stored.publishing, sent.publishing) == ("store", "direct")
    around_behaviour = {"placement": "auto", "max_staleness": 1, "stale_clip": "behaviour"}
    assert resolve(spec(pipeline=around_behaviour)).pipeline.stale_clip == "behaviour"


@settings(max_examples=examples(3, 6))
@given(costs=pools(max_lanes=3), max_staleness=st.integers(0, 1))
def test_the_choice_is_the_fastest_tried_and_leaving_modes_out_does_not_change_it(
    costs: PoolCosts, max_staleness: int
) -> None:
    plan_request = request(costs, max_staleness=max_staleness)
    made, only_best = make_plan(plan_request), make_plan(plan_request, only_best=True)
    fastest = min(seconds_of(made).values())
    assert made.best.split_result.batch_seconds == fastest
    assert only_best.best.split_result.batch_seconds == pytest.approx(fastest)
    assert all(made.bound_share(choice) <= 1 + 1e-6 for choice in made.by_mode.values())
    for choice in made.by_mode.values():
        if not choice.split_result.candidate.pipeline.max_staleness:
            assert choice.split_result.batch_seconds >= made.on_policy_bound_seconds * (1 - 1e-6)
    assert made.bound_seconds <= made.on_policy_bound_seconds <= made.lock_step_bound_seconds


def test_the_same_request_gets_the_same_plan() -> None:
    plan_request = qwen((H100,) * 4)
    assert make_plan(plan_request) == make_plan(plan_request)


def test_measured_costs_decide_over_expected_ones() -> None:
    lanes = {"num_rollout": 1, "num_trainer": 3, "num_reward": 1}
    slow_to_train = {
        ("rollout-0", CostKind.GENERATE): Cost(0.0, 0.01),
        ("reward-0", CostKind.SCORE): Cost(0.0, 0.001),
        (GANG, CostKind.ACCUMULATE): Cost(0.0, 10.0),
        ("trainer-0", CostKind.LEND): Cost(100.0),
        ("trainer-0", CostKind.RECLAIM): Cost(100.0),
    }
    slow_to_generate = slow_to_train | {
        ("rollout-0", CostKind.GENERATE): Cost(0.0, 10.0),
        (GANG, CostKind.ACCUMULATE): Cost(0.0, 0.01),
    }
    assert resolve(spec(lanes=lanes), history=[observed(slow_to_train)]).lanes.num_trainer == 3
    assert resolve(spec(lanes=lanes), history=[observed(slow_to_generate)]).lanes.num_trainer == 1


def test_lanes_of_the_kind_that_is_better_at_it_train_and_kinds_are_not_mixed_without_need() -> None:
    plan_request = qwen((H20, L40S, H20, L40S, H20, L40S))
    trainers = make_plan(plan_request).by_mode["tsp"].split_result.candidate.trainers
    assert len({plan_request.devices[index] for index in trainers}) == 1


def test_every_mode_has_a_curve_over_its_splits() -> None:
    made = make_plan(qwen((H100,) * 6))
    assert set(made.by_mode) == {mode.name for mode in MODES}
    assert [point.num_trainer for point in made.curves["colocated"]] == [6]
    for name in ("disaggregated", "gap", "tsp", "tag", "stale"):
        points = {point.num_trainer: point for point in made.curves[name]}
        assert list(points) == [1, 2, 3, 4, 5]
        split_result = made.by_mode[name].split_result
        best = points[len(split_result.candidate.trainers)]
        assert best.is_simulated
        assert best.batch_seconds == split_result.batch_seconds


def test_each_further_switch_is_no_slower_where_lanes_are_equal() -> None:
    # Rounded, since sums of equal seconds in another order differ in their last bits.
    seconds = {mode: round(value, 9) for mode, value in seconds_of(make_plan(qwen((H100,) * 8))).items()}
    assert seconds["stale"] <= seconds["tag"] <= seconds["tsp"] <= seconds["gap"] <= seconds["disaggregated"]


def test_memory_is_given_by_role() -> None:
    made = make_plan(qwen((H100,) * 4))
    assert set(made.by_mode["colocated"].memory) == {MemoryRole.BOTH}
    assert set(made.by_mode["tsp"].memory) == {MemoryRole.ROLLOUT, MemoryRole.TRAINER}
    assert all(memory.fits(H100) for choice in made.by_mode.values() for memory in choice.memory.values())


def test_a_split_whose_lanes_do_not_fit_the_model_is_not_offered() -> None:
    plan_request = qwen((L40S, L40S, H100, H100), micro_batch_size=8)
    made = make_plan(plan_request)
    assert "colocated" not in made.by_mode
    assert all(
        plan_request.devices[index] is H100
        for choice in made.by_mode.values()
        for index in choice.split_result.candidate.trainers
    )
    with pytest.raises(ValueError, match="take devices with more memory"):
        make_plan(qwen((L40S,) * 4, micro_batch_size=8))


def test_a_model_of_unknown_size_rules_out_no_lane() -> None:
    crowded = replace(qwen((L40S,) * 4, micro_batch_size=8), size_is_known=False)
    assert set(make_plan(crowded, only_best=True).by_mode) <= {mode.name for mode in MODES}


def test_pools_beyond_512_lanes_are_estimated_and_not_simulated() -> None:
    made = make_plan(qwen((H100,) * 513))
    assert all(choice.split_result.result is None for choice in made.by_mode.values())
    assert made.best.split_result.batch_seconds == min(seconds_of(made).values())


def test_devices_are_one_for_each_lane_or_one_for_all() -> None:
    assert plan(spec(), devices=["cpu"]) == plan(spec(), devices=["cpu"] * 3) == plan(spec())
    with pytest.raises(ValueError, match="one for each of 3 lanes"):
        plan(spec(), devices=["cpu", "cpu"])
    with pytest.raises(ValueError, match="must be one of"):
        plan(spec(), devices=["abacus"])


def test_one_lane_alone_is_colocated() -> None:
    with_choice = resolve(spec(lanes={"num_rollout": 0, "num_trainer": 1, "num_reward": 1}))
    assert with_choice.pipeline.placement is Placement.COLOCATED


def test_colocated_lanes_publish_through_the_store_whatever_was_asked_for() -> None:
    lanes = {"num_rollout": 0, "num_trainer": 1, "num_reward": 1}
    with_choice = resolve(spec(lanes=lanes, pipeline={"placement": "auto", "publishing": "direct"}))
    assert with_choice.pipeline.publishing == "store"


def simulated(*, max_staleness: int, num_batches: int = 2) -> Any:
    plan_request = qwen((H100,) * 4)
    pipeline = PipelineSpec.model_validate({"tag": TrainerAssist.OFF, "max_staleness": max_staleness})
    candidate = Candidate(pipeline=pipeline, trainers=(0, 1), fragment_size=1)
    return simulate_candidate(
        plan_request.work, plan_request.costs, candidate, advantage_std="group", num_batches=num_batches
    )


def test_a_candidate_simulation_accounts_for_all_lane_time_and_counts_staleness() -> None:
    fresh, ahead = simulated(max_staleness=0), simulated(max_staleness=1)
    assert sum(fresh.shares.values()) == pytest.approx(1)
    assert (fresh.mean_staleness, ahead.mean_staleness) == (0, 1)
    assert ahead.batch_seconds < fresh.batch_seconds


def test_batches_at_staleness_0_take_equal_times() -> None:
    one, three = (simulated(max_staleness=0, num_batches=number).batch_seconds for number in (1, 3))
    assert one == pytest.approx(three)


def seconds_with_spread(algebra_fields: dict[str, Any], share_without_spread: float) -> float:
    plan_request = qwen((H100,) * 4)
    algebra = plan_request.work.algebra.model_copy(update=algebra_fields)
    work = replace(plan_request.work, algebra=algebra, share_without_spread=share_without_spread)
    candidate = Candidate(pipeline=PipelineSpec(), trainers=(0, 1), fragment_size=1)
    return simulate_candidate(work, plan_request.costs, candidate, advantage_std="group", num_batches=4).batch_seconds


def test_groups_without_spread_change_training_and_generation_in_a_plan() -> None:
    plain = seconds_with_spread({}, 0.0)
    for fields in ({"filter_groups": True}, {"max_resamples": 2}):
        assert seconds_with_spread(fields, 0.0) == plain, "a plan assumes that every group has spread"
    assert seconds_with_spread({}, 0.5) == pytest.approx(plain), "without either switch the share changes nothing"
    assert seconds_with_spread({"filter_groups": True}, 0.5) < plain < seconds_with_spread({"max_resamples": 2}, 0.5)


def test_limits_count_the_draws_and_the_training_that_are_expected() -> None:
    plan_request = qwen((H100,) * 4)
    costs, algebra = plan_request.costs, plan_request.work.algebra.model_copy(update={"max_resamples": 2})
    drawn = costs.expected(replace(plan_request.work, algebra=algebra, share_without_spread=0.5))
    assert drawn.score.seconds(1) == pytest.approx(1.75 * costs.score.seconds(1))
    for expected, nominal in zip(drawn.lanes, costs.lanes, strict=True):
        assert expected.generate.seconds(3) == pytest.approx(1.75 * nominal.generate.seconds(3))
        assert expected.accumulate == nominal.accumulate
    filtered = algebra.model_copy(update={"filter_groups": True})
    trained = costs.expected(replace(plan_request.work, algebra=filtered, share_without_spread=0.5))
    assert trained.lanes[0].accumulate.seconds(4) == pytest.approx(0.875 * costs.lanes[0].accumulate.seconds(4))


def test_a_proposed_split_has_the_limit_that_it_has_among_the_others() -> None:
    plan_request = qwen((H100,) * 4)
    algebra = plan_request.work.algebra.model_copy(update={"max_resamples": 2})
    work = replace(plan_request.work, algebra=algebra, share_without_spread=0.5)
    # So little scoring capacity that every limit is that of the reward lanes.
    costs = replace(plan_request.costs, score=Cost(0.0, 100.0))
    limits = replace(plan_request, work=work, costs=costs).limits()
    tag = next(mode for mode in MODES if mode.name == "tag")
    before = dict(limits.limits(tag, lends=True))
    assert limits.expected(tag, lends=True) == pytest.approx(before)
    for split in before:
        limits.propose(tag, split)
    assert limits.limits(tag, lends=True) == pytest.approx(before)
