"""Resizes within the driver, on a real scheduler and lanes without a cluster; `tests/engine/ray/test_resizing.py` has
the cluster."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.engine.control.four_lanes import ROLES
from tests.scheduling.manual_executor import ManualExecutor
from tests.scheduling.strategies import algebra_of
from worker.contracts.commands import CommandKind, RunCommand
from worker.contracts.events import CommandDoneEvent
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole
from worker.contracts.resizing import LaneStep, Resize, ResizeCause, ResizeReport, ResizeState, RoleChange
from worker.contracts.sections import PipelineSpec
from worker.engine.control import resizer as resizer_module
from worker.engine.control.command_queue import CommandQueue
from worker.engine.control.resizer import Resizer, ResizeRefusedError
from worker.scheduling.core.messages import (
    Accumulate,
    Action,
    AdmissionClosed,
    Commit,
    Generate,
    LaneJoined,
    Leave,
    Pull,
    Score,
    Snapshot,
)


class FakeLanes:
    """Takes the place of `ClusterLanes`: knows roles, and what is still on the cluster."""

    def __init__(self) -> None:
        self.by_name = dict(ROLES)

    def roles(self) -> dict[str, LaneRole]:
        return dict(self.by_name)

    def __getitem__(self, lane: str) -> Any:
        return SimpleNamespace(location=None)

    def add(self, grant: LaneGrant) -> None:
        self.by_name[grant.lane] = grant.role

    def remove(self, lane: str) -> None:
        del self.by_name[lane]

    def replace_actor(self, lane: str, role: LaneRole) -> None:
        self.by_name[lane] = role


class FakeSupervisor:
    """Takes the place of `LaneSupervisor`: keeps the reports, and loads nothing by itself."""

    def __init__(self) -> None:
        self.ready = set(ROLES)
        self.loading: dict[str, Any] = {}
        self.reports: list[ResizeReport] = []
        self.pipeline = self.gang_pipeline = PipelineSpec()

    def bring_up(self, lane: str, otherwise: Any) -> None:
        self.loading[lane] = otherwise

    def forget(self, lane: str) -> None:
        self.ready.discard(lane)
        self.loading.pop(lane, None)

    def report(self, resize: ResizeReport) -> None:
        self.reports.append(resize)

    @property
    def steps(self) -> dict[str, LaneStep]:
        return {progress.lane: progress.step for progress in self.reports[-1].lanes}


class Silent:
    """Takes the place of `SpanReporter`, and records nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: None


class Setup:
    """A resizer with all that it works with; `run` holds the scheduler."""

    def __init__(self, client: Any) -> None:
        lanes = tuple(ROLES.items())
        self.run = ManualExecutor(algebra_of(groups_per_minibatch=2, fragments=(1, 2)), lanes=lanes)
        self.client, self.lanes, self.supervisor = client, FakeLanes(), FakeSupervisor()
        self.commands = CommandQueue(client)
        components: Any = SimpleNamespace(
            lanes=self.lanes,
            spans=Silent(),
            commands=self.commands,
            clock=SimpleNamespace(now=lambda: self.run.at),
            metrics=SimpleNamespace(position=SimpleNamespace(batch=0)),
            answer=SimpleNamespace(spec=SimpleNamespace(num_batches=9)),
        )
        others: Any = None
        supervisor: Any = self.supervisor
        gang: Any = SimpleNamespace(lanes=["trainer-0"], is_storing=False)
        self.resizer = Resizer(components, others, gang, supervisor, others)
        self.resizer.begin(self.run.scheduler)

    def pass_on(self, actions: list[Action]) -> None:
        """What the controller does with the scheduler's actions."""
        for action in actions:
            if isinstance(action, Leave):
                self.resizer.left(action.lane)

    def load(self, lane: str) -> None:
        """The lane's process has loaded."""
        del self.supervisor.loading[lane]
        self.supervisor.ready.add(lane)
        self.run.apply(LaneJoined(lane, self.lanes.by_name[lane], None))
        self.resizer.ready(lane)

    def send(self, identity: str, resize: Resize) -> None:
        """A command arrives."""
        self.client.commands = [RunCommand(id=identity, kind=CommandKind.RESIZE, resize=resize)]
        self.commands.take_new()
        self.resizer.start_requested()

    @property
    def answers(self) -> dict[str, bool]:
        return {event.command_id: event.accepted for event in self.client.events if isinstance(event, CommandDoneEvent)}


@pytest.fixture
def setup(client: Any) -> Setup:
    return Setup(client)


TO_TRAINER = Resize(change=(RoleChange(lane="rollout-1", role=LaneRole.TRAINER),), cause=ResizeCause.PLAN)
TO_REWARD = Resize(change=(RoleChange(lane="rollout-1", role=LaneRole.REWARD),), cause=ResizeCause.PLAN)


def granted(lane: str) -> LaneGrant:
    return LaneGrant(lane=lane, role=LaneRole(lane.partition("-")[0]), node="local")


def test_a_plan_of_the_runs_own_changes_roles_without_the_web(setup: Setup) -> None:
    setup.resizer.start("own", TO_REWARD)
    assert setup.supervisor.steps == {"rollout-1": LaneStep.LEAVING}
    assert not setup.run.start(), "it finishes its fragment first"
    setup.pass_on(setup.run.finish(Generate, "rollout-1"))
    assert setup.supervisor.steps == {"rollout-1": LaneStep.STARTING}
    setup.load("rollout-1")
    last = setup.supervisor.reports[-1]
    assert (last.id, last.cause, last.state) == ("own", ResizeCause.PLAN, ResizeState.DONE)
    assert setup.lanes.by_name["rollout-1"] is LaneRole.REWARD
    assert setup.answers == {}, "nobody sent a command"


def test_one_resize_at_a_time_and_the_refusal_names_it(setup: Setup) -> None:
    setup.resizer.start("own", TO_REWARD)
    with pytest.raises(ResizeRefusedError, match="the resize own is under way"):
        setup.resizer.start("other", Resize(add=(granted("reward-1"),)))
    setup.send("c1", Resize(add=(granted("reward-1"),)))
    assert setup.answers == {"c1": False}
    refused = setup.supervisor.reports[-1]
    assert (refused.id, refused.state, setup.supervisor.steps) == (
        "c1",
        ResizeState.FAILED,
        {"reward-1": LaneStep.GIVEN_UP},
    )
    assert "reward-1" not in setup.lanes.by_name


def test_a_gang_that_needs_a_drained_run_is_not_replaced_while_a_batch_is_open(setup: Setup) -> None:
    setup.resizer.start("own", TO_TRAINER, drains=True)
    assert setup.run.scheduler.state.has_open_batch
    assert not setup.resizer.wants_boundary
    setup.run.apply(AdmissionClosed())
    setup.run.finish_all(Pull, Generate, Score, Accumulate, Commit, Snapshot)
    assert not setup.run.scheduler.state.has_open_batch
    assert setup.resizer.wants_boundary


def test_a_gang_is_replaced_at_the_next_boundary_where_open_batches_can_go_on(setup: Setup) -> None:
    setup.resizer.start("own", TO_TRAINER)
    assert setup.run.scheduler.state.has_open_batch
    assert setup.resizer.wants_boundary


def test_a_stopping_run_is_not_resized(setup: Setup) -> None:
    setup.commands.stop_wanted = True
    setup.send("c1", Resize(add=(granted("rollout-2"),)))
    assert (setup.answers, setup.supervisor.reports[-1].reason) == ({"c1": False}, "the run is stopping")


def test_a_resize_is_done_in_part_where_one_lane_cannot_load(setup: Setup) -> None:
    setup.send("c1", Resize(add=(granted("rollout-2"), granted("reward-1"))))
    setup.supervisor.loading["rollout-2"]("ModelLoadError: no memory")
    assert setup.supervisor.reports[-1].state is ResizeState.ACCEPTED
    setup.load("reward-1")
    last = setup.supervisor.reports[-1]
    assert (last.state, last.reason) == (ResizeState.FAILED, "rollout-2: ModelLoadError: no memory")
    assert setup.supervisor.steps == {"rollout-2": LaneStep.GIVEN_UP, "reward-1": LaneStep.JOINED}
    assert setup.answers == {"c1": False}


def test_a_lane_that_the_cluster_does_not_place_is_given_up(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resizer_module, "PLACEMENT_TIMEOUT_SECONDS", -1.0)
    setup.send("c1", Resize(add=(granted("rollout-2"),)))
    setup.resizer.step()
    assert setup.supervisor.steps == {"rollout-2": LaneStep.GIVEN_UP}
    assert "did not place it" in setup.supervisor.reports[-1].reason
    setup.resizer.step()


def test_a_leaving_lane_that_dies_has_left(setup: Setup) -> None:
    setup.send("c1", Resize(release=("rollout-1",)))
    assert setup.resizer.lost("rollout-1", "killed")
    assert setup.supervisor.steps == {"rollout-1": LaneStep.RELEASED}
    assert setup.answers == {"c1": True}


def test_lanes_that_leave_have_left_when_the_run_goes_back_to_a_checkpoint(setup: Setup) -> None:
    setup.send("c1", Resize(release=("rollout-1",)))
    setup.resizer.rewind("a trainer rank was lost")
    assert setup.supervisor.steps == {"rollout-1": LaneStep.RELEASED}


def test_what_is_open_when_the_run_ends_has_failed(setup: Setup) -> None:
    setup.send("c1", Resize(add=(granted("rollout-2"),), release=("rollout-1",)))
    setup.resizer.close("the run has ended")
    assert setup.supervisor.steps == {"rollout-1": LaneStep.KEPT, "rollout-2": LaneStep.GIVEN_UP}
    assert "rollout-2" not in setup.lanes.by_name, "it is let go of before that is reported"
    assert setup.answers == {"c1": False}


def asked_back(*lanes: str, within_seconds: float = 60.0) -> Resize:
    return Resize(release=lanes, cause=ResizeCause.RECLAIM, within_seconds=within_seconds)


def test_a_lane_asked_back_finishes_its_fragment_where_that_is_within_its_seconds(setup: Setup) -> None:
    setup.run.start()
    setup.send("back", asked_back("rollout-1"))
    assert setup.supervisor.steps == {"rollout-1": LaneStep.LEAVING}
    setup.resizer.step()
    assert "rollout-1" in setup.lanes.by_name
    setup.pass_on(setup.run.finish(Generate, "rollout-1"))
    (progress,) = setup.supervisor.reports[-1].lanes
    assert (progress.step, progress.num_dropped) == (LaneStep.RELEASED, 0)
    assert (setup.supervisor.reports[-1].state, setup.answers) == (ResizeState.DONE, {"back": True})
    assert "rollout-1" not in setup.lanes.by_name


def test_after_its_seconds_a_lane_is_let_go_and_others_draw_its_fragment(setup: Setup) -> None:
    of_lane = setup.run.scheduler.state.lanes["rollout-1"].under_way
    assert isinstance(of_lane, Generate)
    setup.send("back", asked_back("rollout-1", within_seconds=0.0))
    setup.resizer.step()
    (progress,) = setup.supervisor.reports[-1].lanes
    assert (progress.step, progress.num_dropped) == (LaneStep.RELEASED, len(of_lane.fragments))
    assert "rollout-1" not in setup.run.scheduler.state.lanes
    again = setup.run.finish(Generate, "rollout-0")
    drawn = {fragment for action in again if isinstance(action, Generate) for fragment in action.fragments}
    assert set(of_lane.fragments) <= drawn, "the same fragments, before all others"


def test_lanes_are_given_back_while_a_resize_is_under_way(setup: Setup) -> None:
    setup.run.start()
    setup.send("grow", Resize(add=(granted("rollout-2"), granted("reward-1"))))
    setup.send("back", asked_back("rollout-1", within_seconds=0.0))
    setup.resizer.step()
    assert "rollout-1" not in setup.lanes.by_name
    assert setup.answers == {"back": True}, "the resize goes on"
    setup.load("rollout-2")
    setup.load("reward-1")
    assert setup.answers == {"back": True, "grow": True}


def test_a_lane_asked_back_before_it_has_joined_does_not_join(setup: Setup) -> None:
    setup.send("borrow", Resize(add=(granted("rollout-2"), granted("reward-1")), cause=ResizeCause.BORROW))
    setup.send("back", asked_back("rollout-2"))
    assert "rollout-2" not in setup.lanes.by_name
    assert setup.answers == {"back": True}
    setup.load("reward-1")
    assert setup.answers == {"back": True, "borrow": False}
    assert "needs it for another run" in setup.supervisor.reports[-1].reason


def test_a_lane_that_is_given_back_counts_no_more_for_other_resizes(setup: Setup) -> None:
    setup.run.start()
    setup.send("back", asked_back("rollout-1"))
    with pytest.raises(ResizeRefusedError, match="`rollout-1` must be a lane of the run"):
        setup.resizer.start("other", TO_REWARD)
    with pytest.raises(ResizeRefusedError, match="keep at least 1 rollout lane"):
        setup.resizer.start("other", Resize(release=("rollout-0",)))


def test_a_lane_that_a_resize_moves_is_not_given_back_meanwhile(setup: Setup) -> None:
    setup.run.start()
    setup.resizer.start("own", TO_REWARD)
    setup.send("back", asked_back("rollout-1"))
    assert setup.answers == {"back": False}
    assert "part of the resize own" in setup.supervisor.reports[-1].reason


def test_a_lane_that_dies_while_it_is_given_back_is_let_go(setup: Setup) -> None:
    setup.run.start()
    setup.send("back", asked_back("rollout-1"))
    assert setup.resizer.lost("rollout-1", "killed")
    assert setup.answers == {"back": True}


def test_a_run_that_goes_back_to_a_checkpoint_gives_lanes_back_at_once(setup: Setup) -> None:
    setup.run.start()
    setup.send("back", asked_back("rollout-1"))
    setup.resizer.rewind("a rank was lost")
    assert setup.answers == {"back": True}
    assert "rollout-1" not in setup.lanes.by_name


def test_the_end_of_the_run_closes_what_is_not_given_back(setup: Setup) -> None:
    setup.run.start()
    setup.send("back", asked_back("rollout-1"))
    setup.resizer.close("the run has ended")
    assert setup.answers == {"back": False}
