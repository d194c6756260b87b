"""Single moments of a run at staleness 1: when the next batch begins, of which version it is, what holds it back."""

import pytest

from tests.scheduling.manual_executor import ManualExecutor, whole_groups
from tests.scheduling.random_executor import answer
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.contracts.spans import IdleCause
from worker.scheduling.core.messages import (
    Accumulate,
    AdmissionClosed,
    AdmissionOpened,
    Commit,
    EvaluationRequested,
    Generate,
    LaneJoined,
    Publish,
    Pull,
    Purpose,
    Score,
    Snapshot,
    Switch,
)
from worker.scheduling.core.scheduler import Scheduler

ONE_GROUP = algebra_of(groups_per_minibatch=1, fragments=(1, 2))
TWO_FRAGMENTS = algebra_of(groups_per_minibatch=1, fragments=(2, 2))


def generating(run: ManualExecutor) -> list[tuple[int, int]]:
    """(batch, version) of the training fragments being generated."""
    return [
        (action.fragments[0].key.batch, action.fragments[0].policy_version)
        for action in run.actions
        if isinstance(action, Generate) and action.fragments[0].key.purpose is Purpose.TRAIN
    ]


def test_the_next_batch_begins_on_the_version_before_as_soon_as_generators_would_idle() -> None:
    run = ManualExecutor(ONE_GROUP, max_staleness=1)
    assert generating(run) == [(0, 0)]
    run.finish(Generate)
    assert generating(run) == [(1, 0)]


def test_it_does_not_begin_while_fragments_of_this_one_wait() -> None:
    lanes = (("t", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("h", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))
    run = ManualExecutor(algebra_of(groups_per_minibatch=1, fragments=(3, 2)), max_staleness=1, lanes=lanes)
    run.finish(Generate, "g")
    assert generating(run) == [(0, 0), (0, 0)]
    run.finish(Generate, "h")
    assert generating(run) == [(0, 0), (1, 0)]


@pytest.mark.parametrize("tag", [TrainerAssist.OFF, TrainerAssist.GREEDY])
def test_the_last_fragment_and_the_next_batch_are_begun_together_for_free_lanes(tag: TrainerAssist) -> None:
    """This also holds while the gang waits for a lent lane."""
    lanes = (("t", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("h", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))
    num_groups = 4 if tag is TrainerAssist.OFF else 5
    algebra = algebra_of(groups_per_minibatch=num_groups, fragments=(1, 2))
    run = ManualExecutor(algebra, max_staleness=1, tag=tag, lanes=lanes)
    run.finish_all(Switch)
    run.finish_all(Pull)
    run.finish(Generate, "g")
    run.finish(Score)
    (of_h,) = (action for action in run.actions if isinstance(action, Generate) and action.lane == "h")
    run.actions.remove(of_h)
    run.scheduler.apply(answer(of_h), run.at)
    run.finish(Generate, "g")
    started = {action.lane: action.fragments[0].key for action in run.actions if isinstance(action, Generate)}
    assert {(started[lane].batch, started[lane].group) for lane in "gh"} == {(0, num_groups - 1), (1, 0)}


def test_no_batch_begins_two_ahead() -> None:
    run = ManualExecutor(ONE_GROUP, max_staleness=1, num_batches=4)
    run.finish(Generate)
    run.finish(Generate)
    assert generating(run) == []
    run.finish_all(Score, Accumulate, Commit)
    run.finish(Snapshot)
    run.finish(Publish)
    run.finish(Pull)
    assert generating(run) == [(2, 1)]


def test_a_batch_begun_keeps_its_version_after_the_next_is_published() -> None:
    run = ManualExecutor(TWO_FRAGMENTS, max_staleness=1, num_batches=3)
    run.finish(Generate)
    run.finish(Generate)
    run.finish_all(Score, Accumulate, Commit)
    run.finish(Snapshot)
    run.finish(Publish)
    assert generating(run) == [(1, 0)]
    assert run.scheduler.state.needed_versions == {0, 1}
    run.finish(Generate)
    assert generating(run) == [(1, 0)], "its second fragment too"
    assert run.scheduler.state.next_batch_version == 0


def test_the_next_batch_is_trained_while_the_version_before_is_published() -> None:
    run = ManualExecutor(ONE_GROUP, max_staleness=1, num_batches=4)
    run.finish_all(Generate, Score)
    run.finish_all(Accumulate, Commit)
    assert run.finish(Snapshot) == [Publish(0, 1), whole_groups("t", ONE_GROUP, 0, batch=1)]
    assert run.scheduler.state.policy_version == 0
    assert run.scheduler.state.idle_cause("g") is IdleCause.PUBLISH_WAIT
    run.finish_all(Accumulate, Commit)
    assert run.actions == [Publish(0, 1)], "versions are published one at a time"
    assert run.scheduler.state.idle_cause("t") is IdleCause.PUBLISH_WAIT
    assert set(run.finish(Publish)) == {Snapshot(1, 2), Pull("g", 1)}


def test_what_is_being_published_is_no_boundary_yet() -> None:
    run = ManualExecutor(ONE_GROUP, num_batches=1)
    run.finish_all(Generate, Score, Accumulate, Commit, Snapshot)
    assert not run.scheduler.state.has_open_batch
    assert not run.scheduler.state.is_at_boundary
    assert run.scheduler.state.next_batch_version == 1
    run.finish_all(Publish, Pull)
    assert run.scheduler.state.is_finished


def test_a_lane_that_moved_on_goes_back_for_the_older_version() -> None:
    run = ManualExecutor(TWO_FRAGMENTS, max_staleness=1, num_batches=3)
    run.finish(Generate)
    run.finish(Generate)
    run.finish_all(Score, Accumulate, Commit)
    run.finish(Snapshot)
    run.finish(Publish)
    assert run.apply(LaneJoined("h", LaneRole.ROLLOUT, 1)) == [Pull("h", 0)]
    run.finish(Pull)
    assert generating(run) == [(1, 0), (1, 0)]


def test_an_evaluation_of_the_new_version_goes_behind_fragments_of_the_older() -> None:
    run = ManualExecutor(TWO_FRAGMENTS, max_staleness=1, num_batches=3)
    run.finish(Generate)
    run.finish(Generate)
    run.finish_all(Score, Accumulate, Commit)
    run.finish(Snapshot)
    run.finish(Publish)
    run.apply(EvaluationRequested(Purpose.EVALUATE, 1, 1, 2, 1))
    assert generating(run) == [(1, 0)]
    run.finish(Generate)
    assert generating(run) == [(1, 0)]
    assert Pull("g", 1) in run.finish(Generate)
    assert isinstance(run.finish(Pull)[0], Generate)


def test_a_pause_finishes_what_has_begun_and_begins_nothing_ahead() -> None:
    run = ManualExecutor(ONE_GROUP, max_staleness=1, num_batches=3)
    run.apply(AdmissionClosed())
    run.finish_all(Generate, Score, Accumulate, Commit, Snapshot, Publish, Pull)
    assert run.scheduler.state.is_quiescent
    assert run.scheduler.state.batches_completed == 1
    run.apply(AdmissionOpened())
    run.finish(Generate)
    assert generating(run) == [(2, 1)]
    run.apply(AdmissionClosed())
    run.finish_all(Generate, Score, Accumulate, Commit, Snapshot, Publish, Pull)
    assert run.scheduler.state.batches_completed == 3


def test_resumed_the_first_batch_is_of_the_version_that_it_had_begun_with() -> None:
    lanes = (("t", LaneRole.TRAINER), ("s", LaneRole.REWARD))
    run = ManualExecutor(
        ONE_GROUP, max_staleness=1, first_batch=3, first_batch_is_stale=True, num_batches=6, lanes=lanes
    )
    assert run.scheduler.state.next_batch_version == 2
    assert run.apply(LaneJoined("g", LaneRole.ROLLOUT, None)) == [Pull("g", 2)]
    run.finish(Pull)
    assert generating(run) == [(3, 2)]
    run.finish(Generate)
    run.finish(Pull)
    assert generating(run) == [(4, 3)], "the next one begins on the version published last"


def test_resumed_in_a_stricter_mode_the_first_batch_begins_afresh() -> None:
    run = ManualExecutor(ONE_GROUP, max_staleness=0, first_batch=3, first_batch_is_stale=True, num_batches=6)
    assert run.scheduler.state.next_batch_version == 3
    run.finish(Pull)
    assert generating(run) == [(3, 3)]


def test_a_batch_cannot_have_begun_on_a_version_to_come() -> None:
    with pytest.raises(ValueError, match=r"must be ≤ `policy_version` \(4\), got 5"):
        Scheduler(
            ONE_GROUP,
            PipelineSpec(max_staleness=1),
            advantage_std="group",
            first_batch=4,
            num_batches=6,
            policy_version=4,
            first_batch_version=5,
        )
