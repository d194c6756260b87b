"""What pulls, switches and the gang's own work cost, by what a run has measured of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scheduling.planning.synthetic_pools import lane
from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.replanning.fixed_costs import LaneSpeeds
from worker.scheduling.replanning.run_costs import run_costs
from worker.scheduling.replanning.run_lanes import RunLanes

LANE = replace(lane(10.0, 3.0), commit=0.5, snapshot=0.5, publish=0.5, pull=1.0)
SLOWER = 10.0
TRAINERS = range(3)
LANES = RunLanes(names=tuple(f"l{place}" for place in range(5)), trainers=frozenset(TRAINERS), rewards=())


def seconds(value: float) -> MeasuredCost:
    return MeasuredCost(Cost(0.0, value), 1, 1, 0.01)


def known(
    commit: float, *, training: float = 3.0, slower: float = SLOWER, pulls: dict[str, float] | None = None
) -> PoolCosts:
    """The costs of three trainer lanes, the first of which is slower, and two that generate, after a commit of so many
    seconds and micro-batches that take the others `training` seconds."""
    table = {(f"l{place}", CostKind.ACCUMULATE): seconds(training) for place in TRAINERS}
    table["l0", CostKind.ACCUMULATE] = seconds(training * slower)
    table[GANG, CostKind.COMMIT] = seconds(commit)
    table |= {(name, CostKind.PULL): seconds(value) for name, value in (pulls or {}).items()}
    prior = PoolCosts(lanes=(LANE,) * 5, score=Cost(0.0, 0.01), num_reward=1)
    return run_costs(prior, table, LANES, kinds="aaaaa").pool


def commit_of(costs: PoolCosts, *trainers: int) -> float:
    return costs.cost_table(trainers)[GANG, CostKind.COMMIT].seconds()


def test_a_gang_with_a_slow_rank_takes_what_was_measured_and_without_it_what_lanes_alike_need() -> None:
    costs = known(5.0)
    assert commit_of(costs, 0, 1, 2) == pytest.approx(5.0)
    assert commit_of(costs, 0, 3) == pytest.approx(5.0)
    assert commit_of(costs, 1, 2) == pytest.approx(0.5)


def test_what_the_gang_takes_because_of_its_network_is_not_laid_to_a_slow_rank() -> None:
    assert commit_of(known(0.5), 1, 2) == pytest.approx(0.5)


def test_without_a_slow_rank_the_gang_takes_no_less_than_in_proportion_to_other_work() -> None:
    """Training takes twice as long as expected on lanes alike, and a commit with the slow rank three times."""
    assert commit_of(known(1.5, training=6.0), 1, 2) == pytest.approx(1.0)


def test_a_slow_lane_that_joins_the_gang_makes_it_no_slower_than_one_that_it_had() -> None:
    table = {(f"l{place}", CostKind.ACCUMULATE): seconds(3.0) for place in TRAINERS}
    table |= {("l3", CostKind.GENERATE): seconds(10.0), ("l4", CostKind.GENERATE): seconds(100.0)}
    table[GANG, CostKind.COMMIT] = seconds(0.7)
    prior = PoolCosts(lanes=(LANE,) * 5, score=Cost(0.0, 0.01), num_reward=1)
    costs = run_costs(prior, table, LANES, kinds="aaaaa").pool
    assert commit_of(costs, 0, 1) == commit_of(costs, 3, 4) == pytest.approx(0.7)


def test_a_slow_lane_pulls_in_its_own_time_and_others_in_theirs() -> None:
    costs = known(5.0, pulls={"l0": 30.0, "l1": 2.0, "l3": 4.0})
    assert [each.pull for each in costs.lanes] == pytest.approx([30.0, *[3.0] * 4])


def test_a_slow_lane_that_has_not_pulled_is_expected_to_do_so_as_others_do() -> None:
    assert known(5.0, pulls={"l1": 2.0}).lanes[0].pull == pytest.approx(2.0)


def test_where_only_a_slow_lane_has_pulled_others_are_expected_to_be_faster() -> None:
    assert [each.pull for each in known(5.0, pulls={"l0": 30.0}).lanes] == pytest.approx([30.0, *[3.0] * 4])


def test_what_was_expected_to_take_no_time_takes_what_was_measured() -> None:
    free = replace(LANE, pull=0.0, commit=0.0)
    table = {("l3", CostKind.PULL): seconds(2.0), (GANG, CostKind.COMMIT): seconds(0.7)}
    prior = PoolCosts(lanes=(free,) * 5, score=Cost(0.0, 0.01), num_reward=1)
    costs = run_costs(prior, table, LANES, kinds="aaaaa").pool
    assert {each.pull for each in costs.lanes} == {2.0}
    assert commit_of(costs, 1, 2) == pytest.approx(0.7)


def test_ranks_in_step_without_a_slow_one_take_what_lanes_alike_need() -> None:
    """Of ranks in step only the gang's seconds are known; that one is slow is known from its generation."""
    colocated = replace(LANES, trainers=frozenset(range(5)))
    table = {(f"l{place}", CostKind.GENERATE): seconds(10.0) for place in range(5)}
    table |= {("l0", CostKind.GENERATE): seconds(100.0), (GANG, CostKind.ACCUMULATE): seconds(30.0)}
    prior = PoolCosts(lanes=(LANE,) * 5, score=Cost(0.0, 0.01), num_reward=1, equal_counts=True)
    costs = run_costs(prior, table, colocated, kinds="aaaaa").pool
    assert [each.accumulate.per_unit for each in costs.lanes] == pytest.approx([30.0, *[3.0] * 4])


@given(
    ratio=st.floats(0.1, 50.0),
    typical=st.floats(0.2, 5.0),
    speeds=st.lists(st.floats(0.5, 30.0), min_size=2, max_size=8),
)
def test_the_slowest_present_rank_has_the_measured_ratio_and_none_has_more(
    ratio: float, typical: float, speeds: list[float]
) -> None:
    found = LaneSpeeds(speeds, typical).gang_ratios(ratio, frozenset(range(len(speeds))))
    assert max(found) == pytest.approx(ratio)
    assert all(value > 0 for value in found)
    by_speed = [value for _, value in sorted(zip(speeds, found, strict=True))]
    assert by_speed == pytest.approx(sorted(by_speed))
