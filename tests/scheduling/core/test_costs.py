"""What work costs, learnt from the run's own events."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scheduling.manual_executor import ManualExecutor
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, TrainerAssist
from worker.scheduling.core.costs import GANG, Cost, CostKind, CostModel, MeasuredCost
from worker.scheduling.core.messages import (
    Accumulate,
    Commit,
    EvaluationRequested,
    Generate,
    LaneJoined,
    LaneLost,
    Publish,
    Pull,
    Purpose,
    Score,
    Snapshot,
    Switch,
)


def test_one_size_seen_is_charged_to_the_units_and_two_sizes_tell_the_fixed_part() -> None:
    book = CostModel()
    book.observe("g", CostKind.GENERATE, 8.0, num_units=4)
    assert book.cost("g", CostKind.GENERATE) == Cost(0.0, 2.0)
    book.observe("g", CostKind.GENERATE, 5.0, num_units=2)
    measured = book.cost("g", CostKind.GENERATE)
    assert measured is not None
    assert measured.per_call == pytest.approx(2.0)
    assert measured.per_unit == pytest.approx(1.5)
    assert book.seconds("g", CostKind.GENERATE, 4) == pytest.approx(8.0)


def test_the_newest_observations_weigh_most() -> None:
    book = CostModel()
    for seconds in [1.0] * 50 + [3.0] * 50:
        book.observe("g", CostKind.PULL, seconds)
    assert book.seconds("g", CostKind.PULL) == pytest.approx(3.0, rel=0.01)


@pytest.mark.parametrize("observed", [[(1, 5.0), (4, 1.0)], [(1, 0.0), (3, 9.0)]])
def test_estimates_are_never_negative(observed: list[tuple[int, float]]) -> None:
    book = CostModel()
    for num_units, seconds in observed:
        book.observe("g", CostKind.SCORE, seconds, num_units)
    measured = book.cost("g", CostKind.SCORE)
    assert measured is not None
    assert measured.per_call >= 0
    assert measured.per_unit >= 0


def test_a_lane_without_observations_goes_by_its_prior_then_by_the_others() -> None:
    book = CostModel({("g", CostKind.PULL): Cost(5.0)})
    assert book.cost("g", CostKind.PULL) == Cost(5.0)
    assert book.cost("h", CostKind.PULL) is None
    book.observe("h", CostKind.PULL, 1.0)
    book.observe("i", CostKind.PULL, 3.0)
    assert book.cost("g", CostKind.PULL) == Cost(5.0)
    assert book.cost("new", CostKind.PULL) == Cost(0.0, 2.0)
    assert book.table() == {
        ("g", CostKind.PULL): Cost(5.0),
        ("h", CostKind.PULL): Cost(0.0, 1.0),
        ("i", CostKind.PULL): Cost(0.0, 3.0),
    }
    book.remove_lane("h")
    assert book.cost("h", CostKind.PULL) == Cost(0.0, 3.0)


def test_one_size_seen_is_split_as_the_prior_says() -> None:
    book = CostModel({("g", CostKind.GENERATE): Cost(3.0, 1.0)})
    book.observe("g", CostKind.GENERATE, 12.0, num_units=3)
    assert book.cost("g", CostKind.GENERATE) == Cost(6.0, 2.0)
    book.observe("g", CostKind.GENERATE, 4.0, num_units=1)
    assert book.seconds("g", CostKind.GENERATE, 2) == pytest.approx(8.0)


def test_a_prior_is_as_far_off_as_those_of_its_kind_turned_out_to_be() -> None:
    priors = {(lane, CostKind.GENERATE): Cost(0.0, each) for lane, each in (("g", 1.0), ("h", 2.0), ("i", 4.0))}
    book = CostModel(priors | {("g", CostKind.PULL): Cost(5.0)})
    assert book.cost("i", CostKind.GENERATE) == Cost(0.0, 4.0)
    book.observe("g", CostKind.GENERATE, 3.0)
    book.observe("h", CostKind.GENERATE, 6.0)
    assert book.seconds("i", CostKind.GENERATE, 2) == pytest.approx(24.0)
    book.remove_lane("h")
    assert book.seconds("h", CostKind.GENERATE) == pytest.approx(6.0)
    assert book.cost("g", CostKind.PULL) == Cost(5.0)


@given(
    observed=st.lists(
        st.tuples(st.sampled_from("ghi"), st.integers(1, 3), st.sampled_from([0.0, 1e-9, 0.3, 7.0])), max_size=12
    ),
    forgotten=st.sampled_from(["", "g", "h"]),
)
def test_estimates_that_go_by_a_prior_are_finite_and_never_negative(
    observed: list[tuple[str, int, float]], forgotten: str
) -> None:
    book = CostModel({(lane, CostKind.SCORE): Cost(fixed, 0.1) for lane, fixed in (("g", 0.0), ("h", 1.0), ("j", 2.0))})
    for lane, num_units, seconds in observed:
        book.observe(lane, CostKind.SCORE, seconds, num_units)
    book.remove_lane(forgotten)
    for lane in "ghijk":
        cost = book.cost(lane, CostKind.SCORE)
        if cost is not None:
            assert 0 <= cost.per_call < math.inf
            assert 0 <= cost.per_unit < math.inf


def test_what_was_only_assumed_is_not_told_as_learnt() -> None:
    book = CostModel({("g", CostKind.PULL): Cost(5.0), ("h", CostKind.PULL): Cost(6.0)})
    book.observe("g", CostKind.PULL, 1.0)
    assert book.measured() == {("g", CostKind.PULL): MeasuredCost(Cost(1.0, 0.0), 1, 1)}


@pytest.mark.parametrize(("seconds", "num_units"), [(-0.1, 1), (1.0, 0)])
def test_durations_and_units_that_cannot_be_are_refused(seconds: float, num_units: int) -> None:
    with pytest.raises(ValueError, match="must be ≥ 0 and `num_units` ≥ 1"):
        CostModel().observe("g", CostKind.PULL, seconds, num_units)


def test_the_scheduler_learns_every_cost_from_its_own_events() -> None:
    lanes = (("t", LaneRole.TRAINER), ("t2", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))
    run = ManualExecutor(
        algebra_of(groups_per_minibatch=4, fragments=(1, 2)), tag=TrainerAssist.GREEDY, lanes=lanes, num_batches=1
    )
    costs = run.scheduler.state.costs
    run.at += 2.0  # every action under way takes two seconds longer
    run.finish(Switch, "t")
    assert costs.seconds("t", CostKind.LEND) == 3.0
    run.finish(Pull, "t")
    assert costs.seconds("t", CostKind.PULL) == 1.0
    run.finish(Generate, "t")
    assert costs.cost("t", CostKind.GENERATE) == Cost(0.0, 0.5)
    run.finish_all(Generate, Score, Switch, Pull, Accumulate, Commit, Snapshot, Publish)
    assert run.scheduler.state.is_finished
    known = set(costs.table())
    assert {(GANG, kind) for kind in (CostKind.ACCUMULATE, CostKind.COMMIT, CostKind.PUBLISH)} <= known
    assert {("t", CostKind.RECLAIM), ("g", CostKind.GENERATE), ("s", CostKind.SCORE)} <= known


def test_an_evaluation_tells_nothing_about_costs() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=1, fragments=(1, 2)))
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))
    run.finish(Generate)
    known = run.scheduler.state.costs.table()
    run.finish(Generate)
    assert run.scheduler.state.costs.table() == known


def test_a_lane_that_comes_back_is_learnt_afresh() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=2, fragments=(2, 2)))
    run.finish(Generate)
    assert ("g", CostKind.GENERATE) in run.scheduler.state.costs.table()
    run.apply(LaneLost("g"))
    run.apply(LaneJoined("g", LaneRole.ROLLOUT, 0))
    assert ("g", CostKind.GENERATE) not in run.scheduler.state.costs.table()
