"""Groups without spread: drawn again, kept, left out of training, and passed over where a mini-batch has no others."""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.scheduling.manual_executor import ManualExecutor
from tests.scheduling.strategies import algebra_of
from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.core.costs import CostKind
from worker.scheduling.core.messages import (
    Accumulate,
    Commit,
    EvaluationComplete,
    EvaluationRequested,
    Generate,
    Publish,
    Pull,
    Purpose,
    Score,
    Snapshot,
)
from worker.scheduling.core.spread_share import SpreadShare, further_draws, trained_share
from worker.scheduling.forecast.state_reader import InitialStateReader


def algebra(num_groups: int = 2, **fields: Any) -> BatchAlgebra:
    """One fragment a group, unless `fields` say otherwise."""
    return algebra_of(groups_per_minibatch=num_groups, **{"fragments": (1, 2), **fields})


def score_next(run: ManualExecutor, *, has_spread: bool) -> list[object]:
    """Generate and score the next fragment; returns the actions that follow."""
    run.finish(Generate)
    return list(run.finish(Score, has_spread=has_spread))


def taken(actions: Iterable[object]) -> list[tuple[int, int, tuple[int, ...]]]:
    """(mini-batch, epoch, groups) of each accumulation among these actions, which must be of nothing else."""
    accumulations = [action for action in actions if isinstance(action, Accumulate)]
    assert accumulations == list(actions)
    return [
        (action.minibatch, action.epoch, tuple(sorted({key.group for key in action.micro_batches})))
        for action in accumulations
    ]


def draws(run: ManualExecutor) -> list[tuple[int, int, int]]:
    """(group, index, draw) of the fragments being generated."""
    fragments = [action.fragments[0] for action in run.actions if isinstance(action, Generate)]
    return [(fragment.key.group, fragment.key.index, fragment.draw) for fragment in fragments]


def test_a_group_without_spread_is_drawn_again_whole_and_kept_after_the_last_draw() -> None:
    run = ManualExecutor(algebra(1, fragments=(2, 1), max_resamples=1))
    run.finish(Generate)
    run.finish(Score, has_spread=False)
    assert draws(run) == [(0, 1, 0)], "an incomplete group is not judged"
    score_next(run, has_spread=False)
    assert draws(run) == [(0, 0, 1)]
    assert run.scheduler.state.queues() == {"fragments_to_generate": 1, "fragments_to_score": 0, "groups_ready": 0}
    score_next(run, has_spread=False)
    assert draws(run) == [(0, 1, 1)]
    assert taken(score_next(run, has_spread=False)) == [(0, 0, (0,))], "without a filter it is trained as it is"


def test_a_second_draw_with_spread_is_trained() -> None:
    run = ManualExecutor(algebra(1, max_resamples=3, filter_groups=True))
    score_next(run, has_spread=False)
    assert draws(run) == [(0, 0, 1)]
    assert taken(score_next(run, has_spread=True)) == [(0, 0, (0,))]


def test_a_skipped_group_is_left_out_of_every_epoch() -> None:
    run = ManualExecutor(algebra(2, num_epochs=2, filter_groups=True))
    assert score_next(run, has_spread=False) == []
    assert taken(score_next(run, has_spread=True)) == [(0, 0, (1,))]
    for epoch in range(2):
        assert run.finish(Accumulate) == [Commit(0, 0, epoch, num_skipped_groups=1)]
        following = run.finish(Commit)
    assert following == [Snapshot(0, 1)]


def test_the_last_group_turning_out_without_spread_closes_the_minibatch() -> None:
    run = ManualExecutor(algebra(2, filter_groups=True))
    score_next(run, has_spread=True)
    run.finish(Accumulate)
    assert score_next(run, has_spread=False) == [Commit(0, 0, 0, num_skipped_groups=1)]


def test_a_minibatch_of_skipped_groups_takes_no_optimizer_step() -> None:
    run = ManualExecutor(algebra(1, num_minibatches=2, num_epochs=2, filter_groups=True))
    score_next(run, has_spread=False)
    assert taken(score_next(run, has_spread=True)) == [(1, 0, (1,))]
    run.finish(Accumulate)
    assert taken(run.finish(Commit)) == [(1, 1, (1,))], "the first mini-batch is passed over in each epoch"
    run.finish(Accumulate)
    assert run.finish(Commit) == [Snapshot(0, 1)]


@pytest.mark.parametrize("gap", [True, False])
def test_a_batch_of_skipped_groups_is_published_unchanged(gap: bool) -> None:
    run = ManualExecutor(algebra(2, num_minibatches=2, num_epochs=2, filter_groups=True), gap=gap, num_batches=1)
    for _ in range(3):
        assert score_next(run, has_spread=False) == []
    assert score_next(run, has_spread=False) == [Snapshot(0, 1)]
    run.finish(Snapshot)
    run.finish(Publish)
    run.finish_all(Pull)
    assert run.scheduler.state.is_finished


def test_in_order_a_skipped_group_holds_up_no_other() -> None:
    run = ManualExecutor(algebra(3, filter_groups=True), deterministic=True)
    assert score_next(run, has_spread=False) == []
    assert taken(score_next(run, has_spread=True)) == [(0, 0, (1,))]
    run.finish(Accumulate)
    assert taken(score_next(run, has_spread=True)) == [(0, 0, (2,))]


def test_a_batch_ahead_is_drawn_again_under_its_own_version() -> None:
    run = ManualExecutor(algebra(1, max_resamples=1), max_staleness=1, num_batches=3)
    score_next(run, has_spread=True)
    run.finish(Generate)
    run.finish_all(Accumulate, Commit, Snapshot, Publish)
    run.finish_all(Pull)
    assert run.scheduler.state.policy_version == 1
    assert run.finish(Score, has_spread=False) == [], "the lane is at work on the batch after it"
    run.finish(Generate)
    (pull,) = (action for action in run.actions if isinstance(action, Pull))
    assert pull.policy_version == 0
    run.finish(Pull)
    (generate,) = (action for action in run.actions if isinstance(action, Generate))
    (fragment,) = generate.fragments
    assert (fragment.key.batch, fragment.policy_version, fragment.draw) == (1, 0, 1)


def test_evaluations_are_never_drawn_again() -> None:
    run = ManualExecutor(algebra(1, max_resamples=3))
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))
    run.finish(Generate)
    run.finish(Generate)
    complete = [*run.finish(Score, has_spread=False), *run.finish(Score, has_spread=False)]
    assert [action for action in complete if isinstance(action, EvaluationComplete)]
    generating = [action.fragments[0] for action in run.actions if isinstance(action, Generate)]
    assert {fragment.key.purpose for fragment in generating} == {Purpose.TRAIN}


def test_the_share_without_spread_follows_the_draws_and_begins_at_zero() -> None:
    share = SpreadShare()
    assert share.without_spread == 0.0
    for number in range(2000):
        share.observe(has_spread=number % 4 != 0)
    assert share.without_spread == pytest.approx(0.25, abs=0.03)
    for _ in range(500):
        share.observe(has_spread=True)
    assert share.without_spread < 0.01


def test_expected_work_is_the_sum_over_draws() -> None:
    assert further_draws(0.0, 3) == 0.0
    assert further_draws(0.5, 2) == 0.5 + 0.25
    assert further_draws(1.0, 3) == 3.0, "a group that never has spread uses all its draws"
    assert trained_share(algebra(max_resamples=2), 0.5, 2) == 1.0, "without a filter all groups are trained"
    assert trained_share(algebra(max_resamples=2, filter_groups=True), 0.5, 2) == 1 - 0.125


def forecast_inputs(**fields: Any) -> tuple[int, frozenset[int], float]:
    """Of a run whose first two groups of four had no spread and whose third is being generated: the fragments that a
    forecast expects to be begun, the groups known to be skipped, and the share of the others to be trained."""
    run = ManualExecutor(algebra(4, **fields))
    state = run.scheduler.state
    for kind in ("generate", "score"):
        state.costs.observe({"generate": "g", "score": "s"}[kind], CostKind(kind), 1.0)
    state.costs.observe("t", CostKind.GENERATE, 1.0)
    state.costs.observe("t", CostKind.ACCUMULATE, 1.0)
    num_draws = 1 + int(fields.get("max_resamples", 0))
    for _ in range(2 * num_draws):
        score_next(run, has_spread=False)
    initial = InitialStateReader().read(state, run.at)
    assert initial is not None
    batch = initial.batches[0]
    return batch.waiting_groups.size, batch.skipped, batch.trained_share


def test_a_forecast_expects_what_was_measured() -> None:
    assert forecast_inputs() == (1, frozenset(), 1.0)
    share = 2 / (2 + 8)
    num_waiting, skipped, trained = forecast_inputs(filter_groups=True)
    assert (num_waiting, skipped) == (1, frozenset({0, 1}))
    assert trained == pytest.approx(1 - share, abs=0.01)
    assert forecast_inputs(max_resamples=3)[0] > 1, "further draws of the two incomplete groups"
