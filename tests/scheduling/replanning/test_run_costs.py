"""What a run's measurements say of its lanes: of those that were measured, and of those that were not."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scheduling.planning.synthetic_pools import ALIKE, lane, pool
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost
from worker.scheduling.planning.cost_estimates import PoolCosts, lane_name
from worker.scheduling.replanning.run_costs import run_costs
from worker.scheduling.replanning.run_lanes import RunLanes

KINDS = ("h100",) * 6


def prior(number: int = 6) -> PoolCosts:
    return PoolCosts(lanes=pool(ALIKE, [number]), score=Cost(0.0, 0.01), num_reward=1)


def lanes(*trainers: int, number: int = 6) -> RunLanes:
    names = tuple(f"l{index}" for index in range(number))
    return RunLanes(names=names, trainers=frozenset(trainers), rewards=("r0",))


def measured(seconds_per_unit: float, *, units: int = 4, error: float = 0.0) -> MeasuredCost:
    return MeasuredCost(Cost(0.0, seconds_per_unit), units, units, error)


def test_without_measurements_costs_are_the_prior() -> None:
    known = run_costs(prior(), {}, lanes(0, 1), kinds=KINDS)
    assert known.pool == prior()
    assert set(known.speeds) == {1.0}
    assert math.isinf(known.relative_error)


def test_work_that_a_lane_has_not_done_costs_what_it_costs_others_of_its_kind() -> None:
    table = {(f"l{index}", CostKind.ACCUMULATE): measured(3.9) for index in (0, 1)}
    table |= {(f"l{index}", CostKind.GENERATE): measured(7.0) for index in range(2, 6)}
    known = run_costs(prior(), table, lanes(0, 1), kinds=KINDS)
    assert {round(each.accumulate.per_unit, 9) for each in known.pool.lanes} == {3.9}
    assert {round(each.generate.per_unit, 9) for each in known.pool.lanes} == {7.0}


def test_a_kind_that_was_not_measured_at_all_follows_the_others() -> None:
    table = {("l0", CostKind.ACCUMULATE): measured(3.9), ("l5", CostKind.GENERATE): measured(10.0)}
    other = ("h100", "h100", "h100", "l40s", "l40s", "l40s")
    known = run_costs(prior(), table, lanes(0), kinds=other)
    assert known.pool.lanes[4].accumulate.per_unit == pytest.approx(3.9)


def test_a_lane_far_slower_than_its_kind_is_told_apart_and_expected_to_be_so_at_other_work() -> None:
    table = {(f"l{index}", CostKind.GENERATE): measured(10.0) for index in range(2, 5)}
    table |= {("l5", CostKind.GENERATE): measured(20.0), ("l0", CostKind.ACCUMULATE): measured(3.0)}
    known = run_costs(prior(), table, lanes(0, 1), kinds=KINDS)
    assert known.speeds[5] == pytest.approx(2.0)
    assert known.pool.lanes[5].accumulate.per_unit == pytest.approx(6.0)
    assert set(known.speeds[:5]) == {1.0}


def test_a_lane_alone_of_its_kind_that_turned_slow_does_not_stand_for_others() -> None:
    kinds = ("h100", *["l40s"] * 5)
    table = {("l0", CostKind.ACCUMULATE): replace(measured(30.0), slowdown=10.0)}
    table |= {(f"l{index}", CostKind.GENERATE): measured(10.0) for index in range(1, 6)}
    known = run_costs(prior(), table, lanes(0), kinds=kinds)
    assert known.speeds == pytest.approx((10.0, *[1.0] * 5))
    assert [each.accumulate.per_unit for each in known.pool.lanes] == pytest.approx([30.0, *[3.0] * 5])
    assert [each.generate.per_unit for each in known.pool.lanes] == pytest.approx([100.0, *[10.0] * 5])


def test_where_all_lanes_turned_slow_none_of_them_is_slower_than_its_kind() -> None:
    kinds = ("h100", *["l40s"] * 5)
    table = {("l0", CostKind.ACCUMULATE): replace(measured(6.0), slowdown=2.0)}
    table |= {(f"l{index}", CostKind.GENERATE): replace(measured(20.0), slowdown=2.0) for index in range(1, 6)}
    known = run_costs(prior(), table, lanes(0), kinds=kinds)
    assert set(known.speeds) == {1.0}
    assert [each.accumulate.per_unit for each in known.pool.lanes] == pytest.approx([6.0] * 6)


def test_a_lane_that_became_slow_at_one_thing_is_expected_to_be_slow_at_what_it_did_before() -> None:
    table = {(f"l{index}", CostKind.ACCUMULATE): measured(3.0) for index in range(6)}
    table |= {(f"l{index}", CostKind.GENERATE): measured(10.0) for index in range(6)}
    table["l0", CostKind.ACCUMULATE] = measured(9.0)
    known = run_costs(prior(), table, lanes(0, 1), kinds=KINDS)
    assert known.pool.lanes[0].generate.per_unit == pytest.approx(30.0)
    assert {round(each.generate.per_unit, 9) for each in known.pool.lanes[1:]} == {10.0}


def test_lanes_that_differ_by_less_than_their_measurements_can_tell_count_as_one_kind() -> None:
    table = {
        (f"l{index}", CostKind.GENERATE): measured(10.0 * factor, error=0.1)
        for index, factor in enumerate((0.8, 1.0, 1.25, 1.0))
    }
    known = run_costs(prior(), table, lanes(4, 5), kinds=KINDS)
    assert len(set(known.pool.lanes)) == 1


def test_a_lane_that_is_hardly_known_hardly_counts_among_lanes_alike() -> None:
    table = {(f"l{index}", CostKind.ACCUMULATE): measured(3.0, error=0.01) for index in (0, 1)}
    table["l2", CostKind.ACCUMULATE] = measured(12.0, error=0.6)
    known = run_costs(prior(), table, lanes(0, 1, 2), kinds=KINDS)
    assert {round(each.accumulate.per_unit, 9) for each in known.pool.lanes} == {
        round((2 * 3.0 + 12.0 / 36) / (2 + 1 / 36), 9)
    }
    unsure = {(f"l{index}", CostKind.ACCUMULATE): measured(3.0 + index, error=math.inf) for index in range(3)}
    known = run_costs(prior(), unsure, lanes(0, 1, 2), kinds=KINDS)
    assert known.pool.lanes[0].accumulate.per_unit == pytest.approx(4.0)


def test_a_slow_lane_is_told_apart_where_the_median_lane_is_hardly_known() -> None:
    """Trainer lanes have been lent once, each of the others has generated often."""
    table = {(f"l{index}", CostKind.GENERATE): measured(10.0, error=0.5) for index in (0, 1, 2)}
    table |= {(f"l{index}", CostKind.GENERATE): measured(10.0, error=0.001) for index in (3, 4)}
    table["l5", CostKind.GENERATE] = measured(30.0, error=0.001)
    for order in (range(6), range(5, -1, -1)):
        names = tuple(f"l{index}" for index in order)
        known = run_costs(prior(), table, replace(lanes(0, 1, 2), names=names), kinds=KINDS)
        assert {name: round(speed, 3) for name, speed in zip(names, known.speeds, strict=True)} == {
            f"l{index}": 3.0 if index == 5 else 1.0 for index in range(6)
        }


def test_seconds_of_the_gang_are_those_measured_and_keep_the_part_that_ranks_share() -> None:
    sharded = replace(lane(10.0, 3.0), commit=0.5, shared_commit=2.0)
    pool_of_two = PoolCosts(lanes=(sharded,) * 4, score=Cost(0.0, 0.01), num_reward=1)
    # Expected with two ranks: 0.5 + 2 / 2 = 1.5.
    known = run_costs(
        pool_of_two, {(GANG, CostKind.COMMIT): measured(3.0, units=1)}, lanes(0, 1, number=4), kinds="abcd"
    )
    assert known.pool.lanes[0].commit_by(2) == pytest.approx(3.0)
    assert known.pool.lanes[0].commit_by(4) == pytest.approx(2.0)


def test_switches_take_what_was_measured_where_ranks_share_a_part_of_them() -> None:
    """Expected with two ranks: 1 + 8 / 2 = 5 s to lend, 2 + 8 / 2 = 6 s to reclaim."""
    moving = replace(lane(10.0, 3.0), lend=1.0, reclaim=2.0, shared_switch=8.0)
    costs = PoolCosts(lanes=(moving,) * 4, score=Cost(0.0, 0.01), num_reward=1)
    table = {("l0", CostKind.LEND): measured(10.0, units=1), ("l0", CostKind.RECLAIM): measured(12.0, units=1)}
    known = run_costs(costs, table, lanes(0, 1, number=4), kinds="abcd").pool.cost_table((0, 1))
    assert known[lane_name(0), CostKind.LEND].seconds() == pytest.approx(10.0)
    assert known[lane_name(1), CostKind.RECLAIM].seconds() == pytest.approx(12.0)


def test_ranks_in_step_are_scaled_by_the_seconds_of_the_gang() -> None:
    table = {(GANG, CostKind.ACCUMULATE): measured(6.0)}
    known = run_costs(replace(prior(), equal_counts=True), table, lanes(0, 1), kinds=KINDS)
    assert {each.accumulate.per_unit for each in known.pool.lanes} == {6.0}


def test_costs_of_ranks_in_step_are_as_sure_as_what_was_measured_of_the_gang() -> None:
    in_step = replace(prior(), equal_counts=True)
    table = {(f"l{index}", CostKind.GENERATE): measured(10.0) for index in range(2, 6)}
    assert math.isinf(run_costs(in_step, table, lanes(0, 1), kinds=KINDS).relative_error)
    table[GANG, CostKind.ACCUMULATE] = measured(6.0, error=0.1)
    assert run_costs(in_step, table, lanes(0, 1), kinds=KINDS).relative_error == pytest.approx(0.05, rel=1e-3)


@given(
    st.lists(st.floats(0.2, 5.0), min_size=6, max_size=6), st.sampled_from([0.0, math.inf]), st.permutations(range(6))
)
def test_costs_do_not_depend_on_the_order_of_lanes(factors: list[float], error: float, order: list[int]) -> None:
    table = {
        (f"l{index}", CostKind.GENERATE): measured(10.0 * factor, error=error) for index, factor in enumerate(factors)
    }
    known = run_costs(prior(), table, lanes(0), kinds=KINDS)
    shuffled = {
        (f"l{place}", CostKind.GENERATE): table[f"l{index}", CostKind.GENERATE] for place, index in enumerate(order)
    }
    other = run_costs(prior(), shuffled, lanes(order.index(0)), kinds=KINDS)
    assert other.errors[CostKind.GENERATE] == pytest.approx(known.errors[CostKind.GENERATE])
    for place, index in enumerate(order):
        assert other.speeds[place] == pytest.approx(known.speeds[index])
        assert other.pool.lanes[place].generate.per_unit == pytest.approx(known.pool.lanes[index].generate.per_unit)


TWO_KINDS = ("h100",) * 3 + ("l40s",) * 3
RATIOS = st.floats(0.5, 2.0)


def two_kinds() -> PoolCosts:
    return PoolCosts(lanes=pool([(10.0, 3.0), (16.0, 2.0)], [3, 3]), score=Cost(0.0, 0.01), num_reward=1)


def scaled(costs: PoolCosts, generate: float, accumulate: float) -> PoolCosts:
    """The costs with all seconds of generation and of training times a factor each."""
    return replace(
        costs,
        lanes=tuple(
            replace(each, generate=each.generate.scaled(generate), accumulate=each.accumulate.scaled(accumulate))
            for each in costs.lanes
        ),
    )


def measured_of(truth: PoolCosts, generating: set[int], training: set[int]) -> dict[tuple[str, CostKind], MeasuredCost]:
    """What a run measures whose lanes take exactly what is true."""
    table = {(f"l{index}", CostKind.GENERATE): measured(truth.lanes[index].generate.per_unit) for index in generating}
    return table | {
        (f"l{index}", CostKind.ACCUMULATE): measured(truth.lanes[index].accumulate.per_unit) for index in training
    }


def check_same_work(found: PoolCosts, expected: PoolCosts) -> None:
    for one, other in zip(found.lanes, expected.lanes, strict=True):
        assert one.generate.per_unit == pytest.approx(other.generate.per_unit)
        assert one.accumulate.per_unit == pytest.approx(other.accumulate.per_unit)


SOME_LANES = st.sets(st.integers(0, 5), min_size=1)


@given(SOME_LANES, SOME_LANES)
def test_where_the_prior_was_right_nothing_changes(generating: set[int], training: set[int]) -> None:
    table = measured_of(two_kinds(), generating, training)
    known = run_costs(two_kinds(), table, lanes(*training), kinds=TWO_KINDS)
    check_same_work(known.pool, two_kinds())
    assert known.speeds == pytest.approx([1.0] * 6)


@given(SOME_LANES, SOME_LANES, RATIOS, RATIOS)
def test_an_error_that_all_kinds_share_is_learnt_from_any_lane_that_did_the_work(
    generating: set[int], training: set[int], generate: float, accumulate: float
) -> None:
    table = measured_of(two_kinds(), generating, training)
    wrong = scaled(two_kinds(), generate, accumulate)
    check_same_work(run_costs(wrong, table, lanes(*training), kinds=TWO_KINDS).pool, two_kinds())


@given(RATIOS, RATIOS, RATIOS)
def test_seconds_in_another_unit_give_costs_in_that_unit(ratio: float, other_ratio: float, unit: float) -> None:
    """The first kind generates and the second trains, and each is wrong by a factor of its own."""
    truth = scaled(two_kinds(), ratio, other_ratio)
    table, other_table = (measured_of(costs, {1, 2}, {3}) for costs in (truth, scaled(truth, unit, unit)))
    known = run_costs(two_kinds(), table, lanes(3), kinds=TWO_KINDS)
    other = run_costs(scaled(two_kinds(), unit, unit), other_table, lanes(3), kinds=TWO_KINDS)
    check_same_work(other.pool, scaled(known.pool, unit, unit))
    assert other.errors == known.errors


@given(RATIOS, RATIOS)
def test_what_a_kind_has_measured_itself_does_not_depend_on_other_kinds(ratio: float, other_ratio: float) -> None:
    def known(of_second: float) -> PoolCosts:
        truth = two_kinds()
        second = scaled(truth, of_second, of_second).lanes[3:]
        first = scaled(truth, ratio, ratio).lanes[:3]
        table = measured_of(replace(truth, lanes=(*first, *second)), {1, 2, 4, 5}, {0, 3})
        return run_costs(truth, table, lanes(0, 3), kinds=TWO_KINDS).pool

    assert known(1.0).lanes[:3] == known(other_ratio).lanes[:3]


def test_the_error_of_an_estimate_follows_from_how_much_observations_vary() -> None:
    model = CostModel()
    model.observe("steady", CostKind.GENERATE, 2.0)
    assert math.isinf(model.measured()["steady", CostKind.GENERATE].relative_error)
    for _ in range(50):
        model.observe("steady", CostKind.GENERATE, 2.0)
    for number in range(50):
        model.observe("varying", CostKind.GENERATE, 1.0 if number % 2 else 3.0)
    found = {name: cost.relative_error for (name, _), cost in model.measured().items()}
    assert found["steady"] == 0.0
    # A standard deviation of half the mean, over about 19 effective observations.
    assert found["varying"] == pytest.approx(0.5 / math.sqrt(18), rel=0.1)
