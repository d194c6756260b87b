"""Lanes that leave a run: what they finish, what they take no more, and who may leave when."""

import pytest

from tests.scheduling.manual_executor import ONE_OF_EACH, ManualExecutor
from tests.scheduling.strategies import algebra_of
from worker.contracts.names import LaneRole
from worker.contracts.spans import IdleCause
from worker.scheduling.core.messages import (
    Accumulate,
    Commit,
    Generate,
    LaneJoined,
    LaneLost,
    Leave,
    LeaveRequested,
    Publish,
    Pull,
    Score,
    Snapshot,
    TrainerReleased,
    TrainerReserved,
)
from worker.scheduling.core.protocol import ProtocolError

TWO_GROUPS = algebra_of(groups_per_minibatch=2, fragments=(1, 2))
TWO_ROLLOUT = (*ONE_OF_EACH, ("h", LaneRole.ROLLOUT))


def test_a_leaving_rollout_lane_finishes_its_fragment_and_takes_no_more() -> None:
    run = ManualExecutor(TWO_GROUPS, lanes=TWO_ROLLOUT)
    assert not run.apply(LeaveRequested("g"))
    followed = run.finish(Generate, "g")
    assert Leave("g") in followed
    assert not any(isinstance(action, Generate) and action.lane == "g" for action in followed)
    run.finish_all(Generate, Score)
    assert any(isinstance(action, Accumulate) for action in run.actions), "nothing of it was lost"


def test_an_idle_lane_leaves_at_once() -> None:
    run = ManualExecutor(TWO_GROUPS)
    assert run.apply(LeaveRequested("s")) == [Leave("s")]
    with pytest.raises(ProtocolError, match="`s` is not part of this run"):
        run.apply(LeaveRequested("s"))


def test_a_lane_that_is_lost_while_it_leaves_has_its_fragment_generated_again() -> None:
    run = ManualExecutor(TWO_GROUPS, lanes=TWO_ROLLOUT)
    fragments = next(action.fragments for action in run.actions if isinstance(action, Generate) and action.lane == "g")
    run.apply(LeaveRequested("g"))
    run.actions = [action for action in run.actions if getattr(action, "lane", "") != "g"]
    run.apply(LaneLost("g"))
    assert Generate("h", fragments) in run.finish(Generate, "h")


def test_a_trainer_lane_leaves_only_while_the_gang_is_reserved() -> None:
    run = ManualExecutor(TWO_GROUPS)
    with pytest.raises(ProtocolError, match="trainer lane `t` must leave while the gang is reserved"):
        run.apply(LeaveRequested("t"))


def test_the_gang_is_replaced_between_two_batches_while_rollout_lanes_work_on() -> None:
    run = ManualExecutor(TWO_GROUPS, num_batches=2)
    run.finish_all(Generate, Score, Accumulate, Commit)
    run.finish(Snapshot)
    run.apply(TrainerReserved())
    assert run.apply(LeaveRequested("t")) == [Leave("t")]
    run.finish(Publish)
    run.finish_all(Pull, Generate, Score)
    assert run.scheduler.state.queues()["groups_ready"] == 2
    assert run.scheduler.state.idle_cause("g") is IdleCause.RESIZE
    for lane in ("u", "v"):
        run.apply(LaneJoined(lane, LaneRole.TRAINER, None))
    assert any(isinstance(action, Accumulate) for action in run.apply(TrainerReleased()))
