"""Every idle lane has a cause."""

from dataclasses import replace

from tests.scheduling.manual_executor import ManualExecutor, colocated
from tests.scheduling.protocol_checker import GANG
from tests.scheduling.random_executor import RandomExecutor
from tests.scheduling.run_settings import Settings
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.contracts.spans import IdleCause
from worker.scheduling.core.messages import (
    Accumulate,
    Action,
    AdmissionClosed,
    Commit,
    EvaluationRequested,
    Event,
    Generate,
    LaneJoined,
    LaneLost,
    Publish,
    Pull,
    Purpose,
    Score,
    Snapshot,
    Switch,
    TrainerReserved,
)

TWO_GROUPS = algebra_of(groups_per_minibatch=2, fragments=(2, 2))
TWO_GENERATORS = (("t", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("h", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))


def causes(run: ManualExecutor) -> dict[str, IdleCause | None]:
    return {lane: run.scheduler.state.idle_cause(lane) for lane in ("t", "g", "s")}


def test_a_lane_with_work_has_no_cause_and_one_not_joined_yet_starts_up() -> None:
    run = ManualExecutor(TWO_GROUPS)
    assert run.scheduler.state.idle_cause("g") is None
    assert run.scheduler.state.idle_cause("elsewhere") is IdleCause.START_UP


def test_at_first_trainer_and_reward_lanes_have_no_fragment() -> None:
    found = causes(ManualExecutor(TWO_GROUPS))
    assert found["t"] is found["s"] is IdleCause.NO_FRAGMENT_READY


def test_a_group_begun_is_incomplete() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.finish(Generate)
    run.finish(Score)
    assert causes(run)["t"] is IdleCause.GROUP_INCOMPLETE


def test_with_all_generated_the_reward_is_pending() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.finish_all(Generate)
    assert causes(run)["t"] is IdleCause.REWARD_PENDING


def test_the_cause_is_that_of_the_mini_batch_under_way() -> None:
    run = ManualExecutor(algebra_of(num_minibatches=2, groups_per_minibatch=2, fragments=(2, 2)))
    while not any(isinstance(action, Commit) for action in run.actions):
        run.finish_all(Score, Accumulate)
        if not any(isinstance(action, Commit) for action in run.actions):
            run.finish(Generate)
    run.finish(Commit)
    assert causes(run)["t"] is IdleCause.NO_FRAGMENT_READY
    run.finish(Generate)
    assert causes(run)["t"] is IdleCause.GROUP_INCOMPLETE
    run.finish_all(Generate)
    assert causes(run)["t"] is IdleCause.REWARD_PENDING


def test_a_ready_group_barred_by_the_order_is_head_of_line() -> None:
    in_order = ManualExecutor(
        algebra_of(groups_per_minibatch=2, fragments=(1, 2)), deterministic=True, lanes=TWO_GENERATORS
    )
    next_minibatch = ManualExecutor(
        algebra_of(num_minibatches=2, groups_per_minibatch=1, fragments=(1, 2)), lanes=TWO_GENERATORS
    )
    for run in (in_order, next_minibatch):
        run.finish(Generate, "h")
        run.finish(Score)
        assert causes(run)["t"] is IdleCause.HEAD_OF_LINE


def test_without_gap_complete_groups_stand_at_the_batch_barrier() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=2, fragments=(1, 2)), gap=False)
    run.finish(Generate)
    run.finish(Score)
    assert causes(run)["t"] is IdleCause.BATCH_BARRIER


def test_done_with_the_batch_generators_and_scorers_wait_at_its_barrier_then_for_the_publish() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.finish_all(Generate, Score)
    assert causes(run) == {"t": None, "g": IdleCause.BATCH_BARRIER, "s": IdleCause.BATCH_BARRIER}
    run.finish_all(Accumulate, Commit)
    assert causes(run) == {"t": None, "g": IdleCause.PUBLISH_WAIT, "s": IdleCause.PUBLISH_WAIT}


def test_held_back_by_the_staleness_bound_alone_generators_are_under_back_pressure() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=1, fragments=(1, 2)), max_staleness=1, num_batches=4)
    run.finish(Generate)
    assert run.scheduler.state.idle_cause("g") is None, "it generates the next batch"
    run.finish(Generate)
    assert run.scheduler.state.idle_cause("g") is IdleCause.BACK_PRESSURE
    run.finish_all(Score)
    assert causes(run) == {"t": None, "g": IdleCause.BACK_PRESSURE, "s": IdleCause.BACK_PRESSURE}
    run.finish_all(Accumulate, Commit)
    assert run.scheduler.state.idle_cause("g") is IdleCause.PUBLISH_WAIT


def test_at_staleness_1_the_last_batches_drain_without_back_pressure() -> None:
    run = ManualExecutor(algebra_of(groups_per_minibatch=1, fragments=(1, 2)), max_staleness=1, num_batches=2)
    run.finish_all(Generate)
    assert run.scheduler.state.idle_cause("g") is IdleCause.DRAIN


def test_ranks_in_step_with_work_wait_for_a_lent_lane_at_the_gangs_barrier() -> None:
    lanes = (("t", LaneRole.TRAINER), ("t2", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))
    for in_step in (False, True):
        run = ManualExecutor(
            algebra_of(groups_per_minibatch=3, fragments=(1, 2)),
            tag=TrainerAssist.GREEDY,
            lanes=lanes,
            equal_counts=in_step,
        )
        run.finish_all(Switch, Pull)
        run.finish(Generate, "g")
        run.finish(Score)
        run.finish(Generate, "t2")
        started = run.finish(Switch, "t2")
        is_at_work = any(isinstance(action, Accumulate) for action in started)
        assert is_at_work != in_step, "a rank that need not wait for the others trains meanwhile"
        assert run.scheduler.state.idle_cause("t2") is (IdleCause.GANG_BARRIER if in_step else None)
        assert run.scheduler.state.idle_cause("t") is None, "it generates"


def test_with_all_of_the_mini_batch_taken_a_rank_waits_for_those_that_accumulate_or_are_lent() -> None:
    lanes = (("t", LaneRole.TRAINER), ("t2", LaneRole.TRAINER), ("g", LaneRole.ROLLOUT), ("s", LaneRole.REWARD))
    run = ManualExecutor(algebra_of(groups_per_minibatch=1, fragments=(1, 2)), tag=TrainerAssist.GREEDY, lanes=lanes)
    run.apply(EvaluationRequested(Purpose.REQUEST, 0, 1, 2, 0))
    run.finish_all(Switch, Pull)
    run.finish(Generate, "g")
    run.finish_all(Score)
    run.finish(Accumulate, "t2")
    assert run.scheduler.state.idle_cause("t2") is IdleCause.GANG_BARRIER
    run.finish_all(Generate, Switch)
    assert any(isinstance(action, Commit) for action in run.actions)


def test_a_colocated_lane_waits_for_the_groups_of_the_others() -> None:
    run = colocated(TWO_GROUPS, "t", "t2")
    run.finish_all(Switch, Pull)
    for _ in range(3):
        run.finish(Generate, "t")
    run.finish(Switch)
    assert run.scheduler.state.idle_cause("t") is IdleCause.GROUP_INCOMPLETE
    run.finish(Generate, "t2")
    run.finish(Switch)
    assert run.scheduler.state.idle_cause("t2") is IdleCause.REWARD_PENDING


def test_in_the_last_batch_and_before_a_pause_lanes_drain() -> None:
    last, paused = ManualExecutor(TWO_GROUPS, num_batches=1), ManualExecutor(TWO_GROUPS)
    paused.apply(AdmissionClosed())
    for run in (last, paused):
        run.finish_all(Generate, Score)
        assert causes(run) == {"t": None, "g": IdleCause.DRAIN, "s": IdleCause.DRAIN}
        run.finish_all(Accumulate, Commit, Snapshot, Publish)
        assert causes(run)["t"] is IdleCause.DRAIN


def test_without_a_role_that_has_work_the_others_wait_upon_start_up_or_failure() -> None:
    run = ManualExecutor(TWO_GROUPS, lanes=(("t", LaneRole.TRAINER), ("s", LaneRole.REWARD)))
    assert run.scheduler.state.idle_cause("t") is IdleCause.START_UP
    run.apply(LaneJoined("g", LaneRole.ROLLOUT, 0))
    run.apply(LaneLost("g"))
    assert run.scheduler.state.idle_cause("t") is run.scheduler.state.idle_cause("s") is IdleCause.FAILURE


def test_after_the_loss_of_a_trainer_lane_all_idle_by_failure() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.apply(LaneLost("t"))
    assert run.scheduler.state.idle_cause("s") is IdleCause.FAILURE


def test_a_reserved_trainer_is_not_idle() -> None:
    run = ManualExecutor(TWO_GROUPS)
    run.apply(TrainerReserved())
    assert run.scheduler.state.idle_cause("t") is None


def test_at_any_moment_a_lane_has_either_work_or_a_cause() -> None:
    def check(executor: RandomExecutor, _events: list[Event], _actions: list[Action]) -> None:
        checker = executor.checker
        for lane, role in checker.roles.items():
            is_busy = lane in checker.under_way
            if role is LaneRole.TRAINER:
                is_busy |= GANG in checker.under_way or checker.is_reserved
            assert (executor.scheduler.state.idle_cause(lane) is None) == is_busy

    run = Settings(algebra=TWO_GROUPS, num_batches=3, num_reward=2, num_trainer=2, disturbance=0.2)
    modes = (
        run,
        replace(run, tag=TrainerAssist.GREEDY, max_staleness=1),
        replace(run, tag=TrainerAssist.GREEDY, lends_together=True),
        replace(run, placement=Placement.COLOCATED, num_rollout=0),
    )
    for seed in range(48):
        RandomExecutor(modes[seed % len(modes)], seed, observe=check).run()
