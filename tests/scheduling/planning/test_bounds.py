"""No schedule beats its bound, and both bounds have the values computed by hand."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduling.random_costs import pools
from tests.scheduling.strategies import algebra_of, shapes_work
from tests.slow_params import examples
from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.contracts.sections import PipelineSpec, SamplingSpec
from worker.scheduling.core.costs import Cost
from worker.scheduling.core.messages import Event, Published
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.planning.bounds import (
    bound_seconds,
    generation_share,
    lock_step_bound_seconds,
    work_seconds,
)
from worker.scheduling.planning.candidate_simulation import Candidate, simulate_candidate
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts, lane_name, reward_lane_name
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.limits import ScheduleRules, batch_limits
from worker.scheduling.simulator.simulated_lanes import SimulatedLane
from worker.scheduling.simulator.simulator import Simulator

NUM_BATCHES = 2
"""So that one batch follows another."""
ROUNDING = 1e-6
"""Relative and absolute: sums of the same durations in another order differ by less."""
ALGEBRAS = st.builds(
    algebra_of,
    num_minibatches=st.integers(1, 2),
    groups_per_minibatch=st.integers(1, 3),
    fragments=st.sampled_from([(1, 2), (2, 1), (3, 2), (2, 3)]),
    num_epochs=st.integers(1, 2),
)

LANE = LaneCosts(
    generate=Cost(1.0, 2.0),
    accumulate=Cost(0.0, 3.0),
    commit=0.5,
    publish=0.25,
    pull=0.125,
    lend=0.75,
    reclaim=0.375,
)
TWO_GROUPS_OF_FOUR = algebra_of(groups_per_minibatch=2, fragments=(2, 2))
"""Groups of two fragments of two; a group's 12 pairs make two micro-batches of at most 8."""


def published_at(algebra: BatchAlgebra, costs: PoolCosts, trainers: range, pipeline: PipelineSpec) -> list[float]:
    """When each batch is published, with all lanes started at 0."""
    scheduler = Scheduler(
        algebra,
        pipeline,
        advantage_std="group",
        first_batch=0,
        num_batches=NUM_BATCHES,
        policy_version=0,
        lending_policy=lending_policy(pipeline),
        equal_counts=costs.equal_counts,
    )
    lanes = [
        SimulatedLane(lane=lane_name(index), role=LaneRole.TRAINER if index in trainers else LaneRole.ROLLOUT)
        for index in range(len(costs.lanes))
    ]
    lanes += [SimulatedLane(lane=reward_lane_name(index), role=LaneRole.REWARD) for index in range(costs.num_reward)]
    times: list[float] = []

    def observe(event: Event, at: float) -> None:
        if isinstance(event, Published):
            times.append(at)

    Simulator(scheduler, lanes, costs.cost_table(trainers), None, observe=observe).run()
    return times


def modes(max_staleness: int) -> st.SearchStrategy[PipelineSpec]:
    disaggregated = st.builds(
        PipelineSpec,
        gap=st.booleans(),
        tsp=st.booleans(),
        tag=st.sampled_from(TrainerAssist),
        max_staleness=st.just(max_staleness),
        deterministic=st.booleans(),
    )
    colocated = st.builds(PipelineSpec, placement=st.just(Placement.COLOCATED), tsp=st.booleans())
    return disaggregated if max_staleness else disaggregated | colocated


def trainers_of(pipeline: PipelineSpec, costs: PoolCosts, num_trainer: int) -> range:
    num_lanes = len(costs.lanes)
    return range(num_lanes if pipeline.placement is Placement.COLOCATED else 1 + num_trainer % (num_lanes - 1))


@settings(max_examples=examples(60, 150))
@given(algebra=ALGEBRAS, costs=pools(), pipeline=modes(0), num_trainer=st.integers(0, 5))
def test_no_batch_of_any_mode_at_staleness_0_is_faster_than_its_bounds(
    algebra: BatchAlgebra, costs: PoolCosts, pipeline: PipelineSpec, num_trainer: int
) -> None:
    times = published_at(algebra, costs, trainers_of(pipeline, costs, num_trainer), pipeline)
    batches = np.diff([0.0, *times])
    # Ranks that share micro-batches by speed may beat the lock-step bound.
    bounds = [bound_seconds(algebra, costs, max_staleness=0)]
    bounds += [lock_step_bound_seconds(algebra, costs)] if costs.equal_counts else []
    for bound in bounds:
        assert batches.min() >= bound * (1 - ROUNDING) - ROUNDING


@settings(max_examples=examples(40, 100))
@given(algebra=ALGEBRAS, costs=pools(), pipeline=modes(1), num_trainer=st.integers(0, 5))
def test_no_run_that_runs_ahead_is_faster_on_average_than_the_bound(
    algebra: BatchAlgebra, costs: PoolCosts, pipeline: PipelineSpec, num_trainer: int
) -> None:
    times = published_at(algebra, costs, trainers_of(pipeline, costs, num_trainer), pipeline)
    assert times[-1] >= NUM_BATCHES * bound_seconds(algebra, costs) * (1 - ROUNDING) - ROUNDING


@settings(max_examples=examples(40, 100))
@given(algebra=ALGEBRAS, costs=pools(), pipeline=modes(1), num_trainer=st.integers(0, 5))
def test_no_run_that_runs_ahead_is_faster_on_average_than_the_limit_of_its_split(
    algebra: BatchAlgebra, costs: PoolCosts, pipeline: PipelineSpec, num_trainer: int
) -> None:
    # The limit counts a pull for each batch; what the rules ask for is one in two.
    costs = replace(costs, lanes=tuple(replace(lane, pull=0.0) for lane in costs.lanes))
    trainers = trainers_of(pipeline, costs, num_trainer)
    kinds = LaneKinds.of(costs, algebra.fragment_size)
    split = np.bincount(np.take(kinds.of_lane, trainers), minlength=kinds.number.size)
    (limit,) = batch_limits(algebra, costs, kinds, split[None, :], ScheduleRules.of(pipeline, "group"))
    times = published_at(algebra, costs, trainers, pipeline)
    assert times[-1] >= NUM_BATCHES * limit * (1 - ROUNDING) - ROUNDING


@given(algebra=ALGEBRAS, costs=pools())
def test_each_bound_counts_more_than_the_one_before_it(algebra: BatchAlgebra, costs: PoolCosts) -> None:
    work, ahead = work_seconds(algebra, costs), bound_seconds(algebra, costs)
    assert work <= ahead * (1 + ROUNDING) <= bound_seconds(algebra, costs, max_staleness=0) * (1 + ROUNDING) ** 2


def simulated_seconds(
    algebra: BatchAlgebra, costs: PoolCosts, pipeline: PipelineSpec, trainers: range, num_batches: int
) -> float:
    work = shapes_work(algebra)
    candidate = Candidate(pipeline=pipeline, trainers=tuple(trainers), fragment_size=algebra.fragment_size)
    return simulate_candidate(work, costs, candidate, advantage_std="group", num_batches=num_batches).batch_seconds


@settings(max_examples=examples(25, 50))
@given(
    algebra=ALGEBRAS,
    costs=pools(),
    scoring_to_the_rest=st.sampled_from([0.5, 0.95, 1.0, 1.05, 1.5]),
    pipeline=modes(0) | modes(1),
    num_trainer=st.integers(0, 5),
    num_windows=st.integers(1, 3),
)
def test_no_simulated_plan_beats_its_bound(
    algebra: BatchAlgebra,
    costs: PoolCosts,
    scoring_to_the_rest: float,
    pipeline: PipelineSpec,
    num_trainer: int,
    num_windows: int,
) -> None:
    rest = bound_seconds(algebra, replace(costs, score=Cost()))
    score = Cost(0.0, scoring_to_the_rest * rest * costs.num_reward / algebra.num_trajectories)
    balanced = replace(costs, score=score)
    trainers = trainers_of(pipeline, balanced, num_trainer)
    # A single batch that runs ahead may be short, so whole windows are measured for the bound.
    num_batches = num_windows * (1 + pipeline.max_staleness)
    seconds = simulated_seconds(algebra, balanced, pipeline, trainers, num_batches)
    assert seconds >= bound_seconds(algebra, balanced, max_staleness=pipeline.max_staleness) * (1 - ROUNDING)
    seconds = simulated_seconds(algebra, balanced, pipeline, trainers, num_windows)
    assert seconds >= work_seconds(algebra, balanced) * (1 - ROUNDING)


@pytest.mark.parametrize("num_batches", [2, 4, 12])
def test_samples_scored_ahead_do_not_hide_that_reward_lanes_are_too_few(num_batches: int) -> None:
    batch = BatchSpec(num_prompts_per_batch=4, group_size=8, fragment_size=1, micro_batch_size=24)
    algebra = BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=6, num_sde_steps=3))
    lane = replace(LANE, generate=Cost(0.0, 0.058), accumulate=Cost(0.0, 0.13), commit=0.01, snapshot=0.0)
    lane = replace(lane, publish=0.02, pull=0.03, lend=0.1, reclaim=0.03)
    costs = PoolCosts(lanes=(lane,) * 7, score=Cost(0.0, 0.0135), num_reward=1)
    pipeline = PipelineSpec(tag=TrainerAssist.GREEDY, max_staleness=1)
    seconds = simulated_seconds(algebra, costs, pipeline, range(2), num_batches)
    assert bound_seconds(algebra, costs) == pytest.approx(32 * 0.0135)
    assert seconds >= 32 * 0.0135


@settings(max_examples=40)
@given(algebra=ALGEBRAS, costs=pools(), pipeline=modes(0), num_trainer=st.integers(0, 5))
def test_no_mode_beats_the_limit_of_its_own_switches_and_split(
    algebra: BatchAlgebra, costs: PoolCosts, pipeline: PipelineSpec, num_trainer: int
) -> None:
    trainers = trainers_of(pipeline, costs, num_trainer)
    rules = ScheduleRules.of(pipeline, "group", equal_counts=costs.equal_counts)
    kinds = LaneKinds.of(costs, algebra.fragment_size)
    split = np.bincount(np.array(kinds.of_lane)[list(trainers)], minlength=kinds.number.size)
    (limit,) = batch_limits(algebra, costs, kinds, split[None, :], rules)
    batches = np.diff([0.0, *published_at(algebra, costs, trainers, pipeline)])
    assert batches.min() >= limit * (1 - ROUNDING) - ROUNDING


def test_the_bound_of_equal_lanes_is_all_work_over_their_number() -> None:
    costs = PoolCosts(lanes=(LANE,) * 4, score=Cost(0.0, 0.0), num_reward=1)
    # 8 trajectories in 4 fragments of 1 + 2 × 2 seconds, 4 micro-batches of 3.
    assert work_seconds(TWO_GROUPS_OF_FOUR, costs) == pytest.approx((4 * 5 + 4 * 3) / 4)
    assert generation_share(TWO_GROUPS_OF_FOUR, costs) == pytest.approx(20 / 32)


def test_the_bound_gives_each_lane_what_it_is_comparatively_good_at() -> None:
    generator = replace(LANE, generate=Cost(0.0, 1.0), accumulate=Cost(0.0, 100.0))
    trainer = replace(LANE, generate=Cost(0.0, 100.0), accumulate=Cost(0.0, 2.0))
    costs = PoolCosts(lanes=(generator, trainer), score=Cost(0.0, 0.0), num_reward=1)
    # The trainer takes 8 s for 4 micro-batches, and the generator 8 s for 8 trajectories.
    assert work_seconds(TWO_GROUPS_OF_FOUR, costs) == pytest.approx(8.0)


def test_scoring_bounds_a_batch_where_reward_lanes_are_few() -> None:
    costs = PoolCosts(lanes=(LANE,) * 4, score=Cost(0.0, 10.0), num_reward=2)
    assert bound_seconds(TWO_GROUPS_OF_FOUR, costs) == pytest.approx(8 * 10 / 2)


def test_whole_micro_batches_of_each_later_epoch_count_at_staleness_0() -> None:
    lane = replace(LANE, pull=0.0, lend=0.0, reclaim=0.0, publish=0.0)
    costs = PoolCosts(lanes=(lane,) * 3, score=Cost(), num_reward=1)
    once = bound_seconds(TWO_GROUPS_OF_FOUR, costs, max_staleness=0)
    twice = TWO_GROUPS_OF_FOUR.model_copy(update={"num_epochs": 2, "num_optimizer_steps_per_batch": 2})
    # 4 micro-batches of 3 s on 3 lanes take two rounds, and the commit half a second.
    assert bound_seconds(twice, costs, max_staleness=0) == pytest.approx(once + 2 * 3 + 0.5)
    assert bound_seconds(twice, costs) < once + 2 * 3, "the next batch's fragments may fill the gaps"
    assert twice.first_epoch() == TWO_GROUPS_OF_FOUR


def test_the_lock_step_bound_adds_fill_tail_and_publish() -> None:
    lane = replace(LANE, lend=100.0)
    costs = PoolCosts(lanes=(lane, lane), score=Cost(0.0, 0.5), num_reward=1)
    # Lending takes too long, so one lane pulls and generates 4 fragments of 5 s; the last of them is scored,
    # its group's 2 micro-batches of 3 s trained, then commit and publish.
    assert lock_step_bound_seconds(TWO_GROUPS_OF_FOUR, costs) == pytest.approx(0.125 + 4 * 5 + 1.0 + 2 * 3 + 0.5 + 0.25)


def test_the_lock_step_bound_of_lanes_that_all_do_both_is_generation_then_training_with_switches() -> None:
    costs = PoolCosts(lanes=(LANE, LANE), score=Cost(0.0, 0.0), num_reward=1)
    kinds = LaneKinds.of(costs, TWO_GROUPS_OF_FOUR.fragment_size)
    (limit,) = batch_limits(TWO_GROUPS_OF_FOUR, costs, kinds, np.array([[2]]), ScheduleRules())
    assert limit == pytest.approx(0.75 + 0.125 + 2 * 5 + 0.375 + 2 * 3 + 0.5 + 0.25)


def test_more_lanes_never_raise_a_bound() -> None:
    for number in range(2, 8):
        fewer, more = (PoolCosts(lanes=(LANE,) * n, score=Cost(0.0, 0.1), num_reward=1) for n in (number, number + 1))
        assert work_seconds(TWO_GROUPS_OF_FOUR, more) < work_seconds(TWO_GROUPS_OF_FOUR, fewer)
        for bound in (bound_seconds, partial(bound_seconds, max_staleness=0), lock_step_bound_seconds):
            assert bound(TWO_GROUPS_OF_FOUR, more) <= bound(TWO_GROUPS_OF_FOUR, fewer) + 1e-6


def test_the_bound_counts_the_chain_of_a_single_group_however_many_lanes_there_are() -> None:
    costs = PoolCosts(lanes=(LANE,) * 100, score=Cost(0.0, 0.5), num_reward=100)
    # Pull, a fragment of 5 s and its score, the group's 2 micro-batches of 3 s on two ranks, commit, publish.
    chain = 0.125 + 5 + 1.0 + 3 + 0.5 + 0.25
    assert bound_seconds(TWO_GROUPS_OF_FOUR, costs, max_staleness=0) == pytest.approx(chain)
    assert bound_seconds(TWO_GROUPS_OF_FOUR, costs) == pytest.approx(chain / 2)


def test_the_bound_counts_whole_fragments() -> None:
    lane = replace(LANE, generate=Cost(0.0, 10.0), accumulate=Cost(0.0, 0.01), commit=0.0, publish=0.0, pull=0.0)
    costs = PoolCosts(lanes=(lane,) * 3, score=Cost(0.0, 0.0), num_reward=1)
    # 4 fragments of 20 s on 3 lanes: one lane generates two of them, and its group is trained after that.
    assert work_seconds(TWO_GROUPS_OF_FOUR, costs) == pytest.approx((80 + 0.04) / 3)
    assert bound_seconds(TWO_GROUPS_OF_FOUR, costs, max_staleness=0) == pytest.approx(40.01)


def test_the_bound_counts_the_commits_of_as_many_ranks_as_a_step_needs() -> None:
    lane = replace(LANE, commit=4.0, publish=0.0, pull=0.0)
    costs = PoolCosts(lanes=(lane,) * 4, score=Cost(0.0, 0.0), num_reward=1)
    # 32 s of work on 4 lanes. In T seconds, 4 of them a commit, r ranks train 4 micro-batches of 3 s: r = 12 / (T − 4).
    # With their commits T = (32 + 4 · r) / 4, so T = 10, and r = 2.
    assert bound_seconds(TWO_GROUPS_OF_FOUR, costs) == pytest.approx(10.0)


def test_the_bound_lets_ranks_take_work_in_proportion_to_their_speed() -> None:
    slow = replace(LANE, accumulate=Cost(0.0, 300.0))
    costs = PoolCosts(lanes=(LANE, LANE, slow), score=Cost(0.0, 0.0), num_reward=1)
    kinds = LaneKinds.of(costs, TWO_GROUPS_OF_FOUR.fragment_size)
    in_step = replace(costs, equal_counts=True)
    colocated = batch_limits(TWO_GROUPS_OF_FOUR, in_step, kinds, kinds.number[None, :], ScheduleRules())
    # In lock-step each of three ranks takes two of the four micro-batches; otherwise the slow one needs to take none.
    assert float(colocated[0]) > 600
    assert bound_seconds(TWO_GROUPS_OF_FOUR, costs, max_staleness=0) < 30


def test_the_bound_counts_memory() -> None:
    costs = PoolCosts(lanes=(LANE,) * 4, score=Cost(0.0, 0.0), num_reward=1)
    kinds = LaneKinds.of(costs, TWO_GROUPS_OF_FOUR.fragment_size)
    never_both = replace(kinds, ranks_to_do_both=np.full(1, np.inf))
    bound, without_both = (
        bound_seconds(TWO_GROUPS_OF_FOUR, costs, each, max_staleness=0) for each in (kinds, never_both)
    )
    assert without_both >= bound
    assert bound_seconds(TWO_GROUPS_OF_FOUR, costs, replace(kinds, can_generate=np.array([False]))) == np.inf


@pytest.mark.parametrize(
    ("can_generate", "ranks_to_train", "seconds"),
    [
        # 2 generators of 10 s a trajectory and 2 trainers of 6 s a micro-batch: 8 trajectories, 4 micro-batches.
        pytest.param([True, True], [np.inf, 1.0], (8 * 5 + 4 * 6) / (2 * 5 / 10 + 2), id="one cannot train"),
        pytest.param([False, True], [1.0, 1.0], 8 * 5 / 2, id="one cannot generate, the other has no time to train"),
        pytest.param([True, False], [np.inf, 1.0], 8 * 10 / 2, id="each can do one alone"),
        pytest.param([False, True], [1.0, np.inf], 8 * 5 / 2, id="the same the other way round"),
    ],
)
def test_the_work_of_lanes_that_can_do_one_kind_alone_is_left_to_the_others(
    can_generate: list[bool], ranks_to_train: list[float], seconds: float
) -> None:
    slow = replace(LANE, generate=Cost(0.0, 10.0), accumulate=Cost(0.0, 3.0))
    fast = replace(LANE, generate=Cost(0.0, 5.0), accumulate=Cost(0.0, 6.0))
    costs = PoolCosts(lanes=(slow, slow, fast, fast), score=Cost(0.0, 0.0), num_reward=1)
    kinds = LaneKinds.of(costs, TWO_GROUPS_OF_FOUR.fragment_size)
    order = np.array([kinds.of_lane[0], kinds.of_lane[2]])
    kinds = replace(
        kinds,
        can_generate=np.array(can_generate)[np.argsort(order)],
        ranks_to_train=np.array(ranks_to_train)[np.argsort(order)],
        ranks_to_do_both=np.array(ranks_to_train)[np.argsort(order)],
    )
    assert work_seconds(TWO_GROUPS_OF_FOUR, costs, kinds) == pytest.approx(seconds)


@pytest.mark.parametrize(("max_staleness", "num_batches_per_pull"), [(0, 1), (1, 2)])
def test_the_bound_counts_the_pulls_of_lanes_that_generate(max_staleness: int, num_batches_per_pull: int) -> None:
    # Training takes next to nothing. One lane generates all 4 fragments of 5 s, since another pull would take longer.
    lane = replace(LANE, accumulate=Cost(0.0, 0.001), commit=0.0, publish=0.0, lend=0.0, reclaim=0.0, pull=1000.0)
    costs = PoolCosts(lanes=(lane,), score=Cost(0.0, 0.0), num_reward=1)
    bound = bound_seconds(TWO_GROUPS_OF_FOUR, costs, max_staleness=max_staleness)
    assert bound == pytest.approx(1000 / num_batches_per_pull + 4 * 5, rel=0.01)
