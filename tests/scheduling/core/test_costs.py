"""Costs are measured from the run's own events."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scheduling.manual_executor import ManualExecutor
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, TrainerAssist
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.costs import GANG, Cost, CostKind, MeasuredCost
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


def test_one_size_is_charged_to_the_units_and_two_sizes_determine_the_fixed_part() -> None:
    costs = CostModel()
    costs.observe("g", CostKind.GENERATE, 8.0, num_units=4)
    assert costs.cost("g", CostKind.GENERATE) == Cost(0.0, 2.0)
    costs.observe("g", CostKind.GENERATE, 5.0, num_units=2)
    measured = costs.cost("g", CostKind.GENERATE)
    assert measured is not None
    assert measured.per_call == pytest.approx(2.0)
    assert measured.per_unit == pytest.approx(1.5)
    assert costs.seconds("g", CostKind.GENERATE, 4) == pytest.approx(8.0)


def test_the_newest_observations_weigh_most() -> None:
    costs = CostModel()
    for seconds in [1.0] * 50 + [3.0] * 50:
        costs.observe("g", CostKind.PULL, seconds)
    assert costs.seconds("g", CostKind.PULL) == pytest.approx(3.0, rel=0.01)


@pytest.mark.parametrize("observed", [[(1, 5.0), (4, 1.0)], [(1, 0.0), (3, 9.0)]])
def test_estimates_are_never_negative(observed: list[tuple[int, float]]) -> None:
    costs = CostModel()
    for num_units, seconds in observed:
        costs.observe("g", CostKind.SCORE, seconds, num_units)
    measured = costs.cost("g", CostKind.SCORE)
    assert measured is not None
    assert measured.per_call >= 0
    assert measured.per_unit >= 0


def test_a_lane_without_observations_has_its_prior_or_else_the_mean_of_the_others() -> None:
    costs = CostModel({("g", CostKind.PULL): Cost(5.0)})
    assert costs.cost("g", CostKind.PULL) == Cost(5.0)
    assert costs.cost("h", CostKind.PULL) is None
    costs.observe("h", CostKind.PULL, 1.0)
    costs.observe("i", CostKind.PULL, 3.0)
    assert costs.cost("g", CostKind.PULL) == Cost(5.0)
    assert costs.cost("new", CostKind.PULL) == Cost(0.0, 2.0)
    assert costs.table() == {
        ("g", CostKind.PULL): Cost(5.0),
        ("h", CostKind.PULL): Cost(0.0, 1.0),
        ("i", CostKind.PULL): Cost(0.0, 3.0),
    }
    costs.remove_lane("h")
    assert costs.cost("h", CostKind.PULL) == Cost(0.0, 3.0)


def test_one_observed_size_has_the_fixed_share_of_the_prior() -> None:
    costs = CostModel({("g", CostKind.GENERATE): Cost(3.0, 1.0)})
    costs.observe("g", CostKind.GENERATE, 12.0, num_units=3)
    assert costs.cost("g", CostKind.GENERATE) == Cost(6.0, 2.0)
    costs.observe("g", CostKind.GENERATE, 4.0, num_units=1)
    assert costs.seconds("g", CostKind.GENERATE, 2) == pytest.approx(8.0)


def test_a_prior_is_scaled_by_the_error_of_the_priors_of_its_kind() -> None:
    priors = {(lane, CostKind.GENERATE): Cost(0.0, each) for lane, each in (("g", 1.0), ("h", 2.0), ("i", 4.0))}
    costs = CostModel(priors | {("g", CostKind.PULL): Cost(5.0)})
    assert costs.cost("i", CostKind.GENERATE) == Cost(0.0, 4.0)
    costs.observe("g", CostKind.GENERATE, 3.0)
    costs.observe("h", CostKind.GENERATE, 6.0)
    assert costs.seconds("i", CostKind.GENERATE, 2) == pytest.approx(24.0)
    costs.remove_lane("h")
    assert costs.seconds("h", CostKind.GENERATE) == pytest.approx(6.0)
    assert costs.cost("g", CostKind.PULL) == Cost(5.0)


@given(
    observed=st.lists(
        st.tuples(
            st.sampled_from("ghi"),
            st.sampled_from([CostKind.GENERATE, CostKind.ACCUMULATE]),
            st.integers(1, 3),
            st.sampled_from([0.0, 1e-9, 0.3, 7.0, 7.0]),
        ),
        max_size=30,
    ),
    forgotten=st.sampled_from(["", "g", "h"]),
)
def test_estimates_from_a_prior_are_finite_and_never_negative(
    observed: list[tuple[str, CostKind, int, float]], forgotten: str
) -> None:
    kinds = CostKind.GENERATE, CostKind.ACCUMULATE
    priors = {"g": Cost(0.0, 0.1), "h": Cost(1.0, 0.1), "j": Cost(2.0, 0.1)}
    costs = CostModel({(lane, kind): prior for lane, prior in priors.items() for kind in kinds})
    for lane, kind, num_units, seconds in observed:
        costs.observe(lane, kind, seconds, num_units)
    costs.remove_lane(forgotten)
    for lane in "ghijk":
        for kind in kinds:
            cost = costs.cost(lane, kind)
            if cost is not None:
                assert 0 <= cost.per_call < math.inf
                assert 0 <= cost.per_unit < math.inf


def lane_that_turns_slow(*, factor: float, prior: Cost | None = None) -> CostModel:
    """A lane that generated once, at 10 s a trajectory, and trains at 3 s a micro-batch, then `factor` times that."""
    costs = CostModel({} if prior is None else {("t", CostKind.GENERATE): prior})
    if prior is None:
        costs.observe("t", CostKind.GENERATE, 20.0, num_units=2)
    for seconds in (3.0, 3.0, 3.0, 3.0 * factor, 3.0 * factor):
        costs.observe("t", CostKind.ACCUMULATE, seconds)
    return costs


@pytest.mark.parametrize("prior", [None, Cost(0.0, 10.0)], ids=["generated once", "never generated"])
def test_a_lane_that_has_become_slow_at_training_is_expected_to_generate_slowly(prior: Cost | None) -> None:
    costs = lane_that_turns_slow(factor=20.0, prior=prior)
    assert costs.seconds("t", CostKind.GENERATE, 4) == pytest.approx(800.0)
    for seconds in (3.0, 3.0):
        costs.observe("t", CostKind.ACCUMULATE, seconds)
    assert costs.seconds("t", CostKind.GENERATE, 4) == pytest.approx(40.0), "it is what it was again"


def test_a_lane_that_has_become_fast_at_training_is_not_expected_to_generate_faster() -> None:
    """Its first calls may have compiled, which says nothing of its speed."""
    assert lane_that_turns_slow(factor=1 / 20).seconds("t", CostKind.GENERATE, 4) == pytest.approx(40.0)


def test_what_a_slow_lane_then_takes_is_believed_at_once() -> None:
    costs = lane_that_turns_slow(factor=20.0)
    costs.observe("t", CostKind.GENERATE, 44.0, num_units=4)
    assert costs.seconds("t", CostKind.GENERATE, 2) == pytest.approx(22.0)
    assert costs.measured()["t", CostKind.GENERATE].relative_error == math.inf
    costs.remove_lane("t")
    costs.observe("t", CostKind.ACCUMULATE, 3.0)
    assert costs.seconds("t", CostKind.GENERATE, 2) is None


def test_where_a_slow_lane_takes_what_was_expected_it_is_known_as_well_as_before() -> None:
    """With nothing but the last observation it would count as alike with the others of its kind."""
    costs = lane_that_turns_slow(factor=20.0)
    costs.observe("t", CostKind.GENERATE, 780.0, num_units=4)
    assert costs.seconds("t", CostKind.GENERATE, 4) == pytest.approx(780.0, rel=0.02)
    assert costs.measured()["t", CostKind.GENERATE].relative_error < 0.05


@pytest.mark.parametrize("first", [[200.0], []], ids=["generated once", "never generated"])
def test_a_lane_that_turned_slow_at_all_it_does_is_not_taken_to_be_slow_twice(first: list[float]) -> None:
    costs = CostModel({("t", CostKind.GENERATE): Cost(0.0, 50.0)})
    for seconds in first:
        costs.observe("t", CostKind.GENERATE, seconds, num_units=4)
    for seconds in (3.0, 3.0, 3.0, 30.0):
        costs.observe("t", CostKind.ACCUMULATE, seconds)
    costs.observe("t", CostKind.GENERATE, 2000.0, num_units=4)
    costs.observe("t", CostKind.ACCUMULATE, 30.0)
    costs.observe("t", CostKind.GENERATE, 2000.0, num_units=4)
    assert costs.seconds("t", CostKind.GENERATE, 4) == pytest.approx(2000.0)
    assert costs.seconds("t", CostKind.ACCUMULATE, 2) == pytest.approx(60.0)


def slow_lane_that_trains_again(*calls: float) -> CostModel:
    """A lane that generates at 10 s a trajectory, turns ten times slow and is given work of the other kind, in which it
    takes 30 s a micro-batch, as was expected, then `calls`."""
    costs = CostModel({("t", CostKind.ACCUMULATE): Cost(0.0, 3.0)})
    for seconds in (40.0, 40.0, 40.0, 400.0, 400.0):
        costs.observe("t", CostKind.GENERATE, seconds, num_units=4)
    for seconds in (30.0, 30.0, 30.0, *calls):
        costs.observe("t", CostKind.ACCUMULATE, seconds)
    return costs


@pytest.mark.parametrize(("calls", "expected"), [((3.0, 3.0), 40.0), ((15.0, 15.0), 200.0), ((3.0, 30.0), 400.0)])
def test_a_lane_that_recovers_at_other_work_has_recovered_at_what_it_is_not_given_any_more(
    calls: tuple[float, ...], expected: float
) -> None:
    """Else what it took last would keep it where it was moved for being slow, for ever."""
    costs = slow_lane_that_trains_again(*calls)
    assert costs.seconds("t", CostKind.GENERATE, 4) == pytest.approx(expected)
    assert costs.measured()["t", CostKind.GENERATE].slowdown == pytest.approx(expected / 40.0)


def test_a_lane_that_is_slow_at_one_thing_alone_recovers_at_that_alone() -> None:
    """Training became faster without ever having been slow: its first call compiled."""
    costs = CostModel()
    for seconds in (40.0, 40.0, 40.0, 400.0, 400.0):
        costs.observe("t", CostKind.GENERATE, seconds, num_units=4)
    for seconds in (3.0, 3.0, 3.0, 1.0, 1.0):
        costs.observe("t", CostKind.ACCUMULATE, seconds)
    assert costs.seconds("t", CostKind.GENERATE, 4) == pytest.approx(400.0)


def test_a_lane_that_recovers_says_what_others_take_as_before() -> None:
    prior = {("u", CostKind.GENERATE): Cost(0.0, 10.0), ("t", CostKind.GENERATE): Cost(0.0, 10.0)}
    slow, well = CostModel(prior), CostModel(prior)
    for costs, calls in ((slow, (30.0, 30.0, 3.0, 3.0)), (well, (3.0,))):
        for seconds in (40.0, 40.0, 40.0):
            costs.observe("t", CostKind.GENERATE, seconds, num_units=4)
        for seconds in (3.0, 3.0, 3.0, *calls):
            costs.observe("t", CostKind.ACCUMULATE, seconds)
    assert slow.seconds("u", CostKind.GENERATE) == pytest.approx(well.seconds("u", CostKind.GENERATE))


@pytest.mark.parametrize(("kind", "is_in_doubt"), [(CostKind.GENERATE, True), (CostKind.PULL, False)])
def test_costs_are_in_doubt_until_another_call_tells_whether_a_lane_turned_slow(
    kind: CostKind, is_in_doubt: bool
) -> None:
    costs, found = CostModel(), list[bool]()
    for seconds in (10.0, 10.0, 10.0, 50.0, 50.0, 50.0, 10.0):
        costs.observe("g", kind, seconds)
        found.append(costs.is_in_doubt)
    assert [number for number, doubt in enumerate(found) if doubt] == ([3, 6] if is_in_doubt else [])


def test_what_a_lane_took_before_it_turned_slow_tells_what_others_take() -> None:
    prior = {(lane, CostKind.ACCUMULATE): Cost(0.0, 2.0) for lane in ("t", "u")}
    for costs in (CostModel(prior), CostModel()):
        for seconds in (3.0, 3.0, 3.0, 30.0, 30.0):
            costs.observe("t", CostKind.ACCUMULATE, seconds)
        assert costs.seconds("t", CostKind.ACCUMULATE) == pytest.approx(30.0)
        assert costs.seconds("u", CostKind.ACCUMULATE) == pytest.approx(3.0)
        assert costs.measured()["t", CostKind.ACCUMULATE].slowdown == pytest.approx(10.0)


def test_work_that_a_slow_lane_does_for_the_first_time_tells_what_others_take() -> None:
    costs = CostModel({(lane, CostKind.GENERATE): Cost(0.0, 50.0) for lane in ("t", "u")})
    for seconds in (3.0, 3.0, 3.0, 30.0, 30.0):
        costs.observe("t", CostKind.ACCUMULATE, seconds)
    costs.observe("t", CostKind.GENERATE, 2400.0, num_units=4)
    assert costs.seconds("u", CostKind.GENERATE, 4) == pytest.approx(240.0)


@pytest.mark.parametrize(("taken", "slowdown"), [(40.0, 1.0), (400.0, 10.0)])
def test_without_a_prior_too_a_slow_lane_is_told_from_one_that_is_slow_at_other_work_alone(
    taken: float, slowdown: float
) -> None:
    costs = CostModel()
    costs.observe("u", CostKind.GENERATE, 40.0, num_units=4)
    for seconds in (3.0, 3.0, 3.0, 30.0, 30.0):
        costs.observe("t", CostKind.ACCUMULATE, seconds)
    assert costs.seconds("t", CostKind.GENERATE, 4) == pytest.approx(400.0)
    costs.observe("t", CostKind.GENERATE, taken, num_units=4)
    assert costs.measured()["t", CostKind.GENERATE].slowdown == pytest.approx(slowdown)
    assert costs.seconds("v", CostKind.GENERATE, 4) == pytest.approx(40.0)


def test_priors_are_not_reported_as_measured() -> None:
    costs = CostModel({("g", CostKind.PULL): Cost(5.0), ("h", CostKind.PULL): Cost(6.0)})
    costs.observe("g", CostKind.PULL, 1.0)
    assert costs.measured() == {("g", CostKind.PULL): MeasuredCost(Cost(1.0, 0.0), 1, 1, math.inf)}


@pytest.mark.parametrize(("seconds", "num_units"), [(-0.1, 1), (1.0, 0)])
def test_durations_and_units_that_cannot_be_are_refused(seconds: float, num_units: int) -> None:
    with pytest.raises(ValueError, match="must be ≥ 0 and `num_units` ≥ 1"):
        CostModel().observe("g", CostKind.PULL, seconds, num_units)


def test_the_scheduler_measures_every_cost_from_its_own_events() -> None:
    lanes = (("t", LaneRole.TRAINER), ("t2", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))
    run = ManualExecutor(
        algebra_of(groups_per_minibatch=4, fragments=(1, 2)), tag=TrainerAssist.GREEDY, lanes=lanes, num_batches=1
    )
    costs = run.scheduler.state.costs
    run.at += 2.0  # Every action under way takes two seconds longer.
    run.finish(Switch, "t")
    assert costs.seconds("t", CostKind.LEND) == 3.0
    run.finish(Pull, "t")
    assert costs.seconds("t", CostKind.PULL) == 1.0
    run.finish(Generate, "t")
    assert costs.cost("t", CostKind.GENERATE) == Cost(0.0, 0.5)
    run.finish_all(Generate, Score, Switch, Pull, Accumulate, Commit, Snapshot, Publish)
    assert run.scheduler.state.is_finished
    known = set(costs.table())
    assert {(GANG, CostKind.COMMIT), (GANG, CostKind.PUBLISH)} <= known
    assert (GANG, CostKind.ACCUMULATE) not in known, "each rank is measured by itself"
    assert {("t", CostKind.ACCUMULATE), ("t2", CostKind.ACCUMULATE)} <= known
    assert {("t", CostKind.RECLAIM), ("g", CostKind.GENERATE), ("s", CostKind.SCORE)} <= known


def test_an_evaluation_changes_no_costs() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=1, fragments=(1, 2)))
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))
    run.finish(Generate)
    known = run.scheduler.state.costs.table()
    run.finish(Generate)
    assert run.scheduler.state.costs.table() == known


def test_a_lane_that_comes_back_is_measured_afresh() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=2, fragments=(2, 2)))
    run.finish(Generate)
    assert ("g", CostKind.GENERATE) in run.scheduler.state.costs.table()
    run.apply(LaneLost("g"))
    run.apply(LaneJoined("g", LaneRole.ROLLOUT, 0))
    assert ("g", CostKind.GENERATE) not in run.scheduler.state.costs.table()
