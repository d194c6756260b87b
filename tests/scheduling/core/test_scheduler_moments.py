"""Single moments of a run: what goes first, what overlaps, what waits."""

from tests.scheduling.manual_executor import ManualExecutor, whole_groups
from tests.scheduling.random_executor import answer
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, TrainerAssist
from worker.scheduling.core.messages import (
    Accumulate,
    AdmissionClosed,
    AdmissionOpened,
    Commit,
    EvaluationComplete,
    EvaluationRequested,
    Fragment,
    FragmentKey,
    Generate,
    Generated,
    LaneJoined,
    LaneLost,
    Publish,
    Pull,
    Purpose,
    Score,
    Snapshot,
    TrainerReleased,
    TrainerReserved,
)

TWO_GROUPS = algebra_of(groups_per_minibatch=2, fragments=(1, 2))


def kinds(run: ManualExecutor) -> set[type]:
    return {type(action) for action in run.actions}


def test_with_gap_a_complete_group_trains_while_another_is_generated() -> None:
    run = ManualExecutor(TWO_GROUPS, gap=True)
    run.finish(Generate)
    run.finish(Score)
    assert kinds(run) == {Accumulate, Generate}


def test_without_gap_training_waits_for_the_whole_batch() -> None:
    run = ManualExecutor(TWO_GROUPS, gap=False)
    run.finish(Generate)
    run.finish(Score)
    assert kinds(run) == {Generate}
    run.finish(Generate)
    assert run.finish(Score) == [whole_groups("t", TWO_GROUPS, 0, 1)]


def test_advantages_over_the_batch_wait_for_its_last_reward() -> None:
    run = ManualExecutor(TWO_GROUPS, gap=True, whole_batch_advantages=True)
    run.finish(Generate)
    run.finish(Score)
    run.finish(Generate)
    assert kinds(run) == {Score}
    assert run.finish(Score) == [whole_groups("t", TWO_GROUPS, 0, 1)]


def test_scoring_overlaps_generation() -> None:
    run = ManualExecutor(TWO_GROUPS)
    assert {type(action) for action in run.finish(Generate)} == {Generate, Score}


def test_groups_that_became_ready_while_the_trainer_worked_are_bundled() -> None:
    three_groups = algebra_of(groups_per_minibatch=3, fragments=(1, 2))
    run = ManualExecutor(three_groups)
    run.finish(Generate)
    run.finish(Score)
    run.finish_all(Generate, Score)
    assert run.finish(Accumulate) == [whole_groups("t", three_groups, 1, 2)]


def test_in_order_a_later_group_waits_at_the_head_of_the_line() -> None:
    lanes = (("t", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("h", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))
    for deterministic in (True, False):
        run = ManualExecutor(TWO_GROUPS, deterministic=deterministic, lanes=lanes)
        run.finish(Generate, "h")
        started = run.finish(Score)
        assert started == ([] if deterministic else [whole_groups("t", TWO_GROUPS, 1)])


def test_the_trained_version_is_pulled_before_the_next_batch() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.finish_all(Generate, Score, Accumulate, Commit)
    run.finish(Snapshot)
    assert run.finish(Publish) == [Pull("g", 1)]
    assert run.finish(Pull) == [Generate("g", (Fragment(FragmentKey(Purpose.TRAIN, 1, 0, 0), (0, 1), 1),))]


def test_every_rollout_lane_pulls_a_new_version_even_with_nothing_to_generate() -> None:
    lanes = (("t", LaneRole.TRAINER), ("s", LaneRole.REWARD), *((f"g{i}", LaneRole.ROLLOUT) for i in range(5)))
    run = ManualExecutor(TWO_GROUPS, num_batches=1, lanes=lanes)
    run.finish_all(Generate, Score, Accumulate, Commit)
    run.finish(Snapshot)
    assert set(run.finish(Publish)) == {Pull(f"g{i}", 1) for i in range(5)}


def purposes(run: ManualExecutor) -> list[Purpose]:
    """Of the fragments that rollout lanes generate, until they have nothing to do."""
    found = []
    while calls := [action for action in run.actions if isinstance(action, Generate)]:
        found += [fragment.key.purpose for fragment in calls[0].fragments]
        run.finish(Generate)
    return found


def test_an_evaluation_is_generated_while_trainer_lanes_work_on_the_samples_of_its_version() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))
    assert purposes(run) == [Purpose.TRAIN, Purpose.TRAIN, Purpose.EVALUATE]


def test_where_trainer_lanes_generate_an_evaluation_goes_first() -> None:
    run = ManualExecutor(TWO_GROUPS, tag=TrainerAssist.GREEDY)
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))
    run.finish(Generate)
    assert purposes(run)[0] is Purpose.EVALUATE


def test_an_evaluation_is_scored_after_training_fragments() -> None:
    run = ManualExecutor(TWO_GROUPS, tag=TrainerAssist.GREEDY)
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))
    purposes(run)
    score = run.finish(Score)[-1]
    assert isinstance(score, Score)
    assert score.fragment.key.purpose is Purpose.TRAIN


def test_an_evaluation_is_generated_before_the_samples_of_the_next_version() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 3, 2, 0))
    run.finish(Generate)
    run.finish(Generate)
    run.finish_all(Score, Accumulate, Commit)
    run.finish(Snapshot)
    run.finish(Publish)
    assert purposes(run) == [Purpose.EVALUATE] * 3
    assert Pull("g", 1) in run.actions


def test_training_goes_on_while_an_evaluation_is_unscored() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))
    while not any(isinstance(a, Score) and a.fragment.key.purpose is Purpose.EVALUATE for a in run.actions):
        run.finish_all(Generate)
        run.finish(Score)
    run.apply(LaneJoined("s2", LaneRole.REWARD, None))
    run.finish_all(Accumulate, Commit, Snapshot, Publish, Pull, Generate)
    assert run.scheduler.state.batches_completed == 1


def test_an_evaluation_fragment_lost_with_its_lane_is_generated_again_under_its_own_version() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=1, fragments=(1, 2)))
    run.apply(EvaluationRequested(Purpose.EVALUATE, 0, 1, 2, 0))
    run.finish(Generate)
    run.apply(LaneJoined("h", LaneRole.ROLLOUT, 0))
    run.finish_all(Score, Accumulate, Commit, Snapshot, Publish)
    assert run.actions == [Generate("g", (Fragment(FragmentKey(Purpose.EVALUATE, 0, 0, 0), (0, 1), 0),)), Pull("h", 1)]
    run.finish(Pull)
    assert run.scheduler.state.needed_versions == {0, 1}
    run.actions.remove(run.actions[0])
    run.apply(LaneLost("g"))
    run.finish(Generate, "h")
    assert Pull("h", 0) in run.actions
    run.finish(Pull)
    run.finish(Generate, "h")
    run.finish_all(Score)
    assert EvaluationComplete(Purpose.EVALUATE, 0, ((0.0, 1.0),)) in run.actions
    assert Pull("h", 1) in run.actions


def test_a_version_that_a_slow_lane_still_pulls_is_needed_although_newer_ones_are_published() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.finish_all(Generate, Score, Accumulate, Commit)
    run.finish(Snapshot)
    run.finish(Publish)
    assert Pull("h", 1) in run.apply(LaneJoined("h", LaneRole.ROLLOUT, None))
    run.finish(Pull, "g")
    while run.scheduler.state.batches_completed < 2:
        run.finish(next(type(action) for action in run.actions if action != Pull("h", 1)))
    assert run.scheduler.state.policy_version == 2
    assert run.scheduler.state.needed_versions == {1, 2}


def test_paused_in_mid_batch_the_batch_is_finished_and_no_other_begins() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.apply(AdmissionClosed())
    run.finish_all(Generate, Score, Accumulate, Commit, Snapshot, Publish, Pull)
    assert run.actions == []
    assert run.scheduler.state.is_quiescent
    assert not run.scheduler.state.is_finished
    assert run.apply(AdmissionOpened())


def test_samples_are_drawn_while_paused() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.apply(AdmissionClosed())
    run.finish_all(Generate, Score, Accumulate, Commit, Snapshot, Publish, Pull)
    run.apply(EvaluationRequested(Purpose.REQUEST, 1, 1, 2, 1))
    assert not run.scheduler.state.is_quiescent
    run.finish_all(Generate, Score)
    assert isinstance(run.actions.pop(), EvaluationComplete)
    assert run.scheduler.state.is_quiescent


def test_a_finished_run_ends_with_its_last_evaluation() -> None:
    run = ManualExecutor(TWO_GROUPS, num_batches=1)
    run.finish_all(Generate, Score, Accumulate, Commit)
    run.scheduler.apply(EvaluationRequested(Purpose.REQUEST, 0, 1, 2, 0), run.at)
    run.finish(Snapshot)
    run.finish(Publish)
    assert not run.scheduler.state.is_finished
    run.finish_all(Pull, Generate, Score)
    assert run.scheduler.state.is_finished


def test_without_rollout_lanes_the_run_waits_and_goes_on_when_one_comes() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.actions.clear()
    assert run.apply(LaneLost("g")) == []
    assert not run.scheduler.state.is_quiescent
    assert run.apply(LaneJoined("h", LaneRole.ROLLOUT, None)) == [Pull("h", 0)]


def test_a_fragment_of_a_lost_lane_is_next_in_the_queue_again() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.actions.clear()
    run.apply(LaneLost("g"))
    (again,) = run.apply(LaneJoined("h", LaneRole.ROLLOUT, 0))
    assert isinstance(again, Generate)
    assert again.fragments[0].key == FragmentKey(Purpose.TRAIN, 0, 0, 0)


def test_a_lost_trainer_lane_stops_everything_until_a_restart() -> None:
    run = ManualExecutor(TWO_GROUPS)
    assert run.apply(LaneLost("t")) == []
    assert run.scheduler.state.trainer_lost
    assert run.apply(Generated("g", (FragmentKey(Purpose.TRAIN, 0, 0, 0),))) == []


def test_a_reserved_trainer_trains_when_it_is_released() -> None:
    one_group = algebra_of(groups_per_minibatch=1, fragments=(1, 2))
    run = ManualExecutor(one_group)
    run.apply(TrainerReserved())
    run.finish_all(Generate, Score)
    assert run.actions == []
    assert run.apply(TrainerReleased()) == [whole_groups("t", one_group, 0)]


def test_a_run_is_not_finished_while_its_trainer_is_reserved() -> None:
    run = ManualExecutor(TWO_GROUPS, num_batches=1)
    run.finish_all(Generate, Score, Accumulate, Commit, Snapshot, Publish, Pull)
    assert run.scheduler.state.is_finished
    run.apply(TrainerReserved())
    assert not run.scheduler.state.is_finished
    assert not run.scheduler.state.is_at_boundary
    run.apply(TrainerReleased())
    assert run.scheduler.state.is_finished


def test_a_lane_lost_right_after_it_handed_in_its_work_is_given_no_more() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.scheduler.apply(answer(run.actions.pop()), run.at)
    assert [type(action) for action in run.apply(LaneLost("g"))] == [Score]


def test_queue_depths_are_counted() -> None:
    run = ManualExecutor(TWO_GROUPS)
    assert run.scheduler.state.queues() == {"fragments_to_generate": 1, "fragments_to_score": 0, "groups_ready": 0}
    run.finish_all(Generate)
    assert run.scheduler.state.queues() == {"fragments_to_generate": 0, "fragments_to_score": 1, "groups_ready": 0}
    run.finish_all(Score)
    assert run.scheduler.state.queues() == {"fragments_to_generate": 0, "fragments_to_score": 0, "groups_ready": 1}
