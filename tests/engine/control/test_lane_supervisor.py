from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.engine.control.four_lanes import ROLES
from tests.engine.driving import bootstrap_answer
from worker.contracts.lanes import LaneWork
from worker.contracts.names import LaneRole, TrainerAssist
from worker.contracts.run_spec import RunSpec
from worker.engine.control.cluster_lanes import LaneHandle, LanesLostError
from worker.engine.control.lane_supervisor import MAX_LANE_RESTARTS, LanesExhaustedError, LaneSupervisor
from worker.engine.control.pending_calls import RewindNeededError


class FakeLanes:
    """Takes the place of `ClusterLanes`, without a cluster: counts restarts."""

    def __init__(self) -> None:
        method = SimpleNamespace(remote=lambda *arguments: object())
        actor = SimpleNamespace(location=method, load=method)
        self.handles = {lane: LaneHandle(None, actor) for lane in ROLES}
        self.dead: set[str] = set()

    def __getitem__(self, lane: str) -> LaneHandle:
        return self.handles[lane]

    def open(self) -> None:
        pass

    def wait_until_up(self, lanes: list[str], poll_web: Any, on_up: Callable[[list[str]], None]) -> None:
        for lane in lanes:
            on_up([lane])

    def num_gpus_beside(self, lane: str) -> int:
        return 1

    def infos(self) -> tuple[Any, ...]:
        return ()

    def names(self, role: LaneRole | None = None) -> list[str]:
        return [lane for lane, its_role in ROLES.items() if role in (None, its_role)]

    def role(self, lane: str) -> LaneRole:
        return ROLES[lane]

    def restart(self, lane: str) -> None:
        self.handles[lane].num_restarts += 1

    def on_dead_nodes(self, lanes: list[str]) -> list[str]:
        return [lane for lane in lanes if lane in self.dead]


class FakeCalls:
    """Takes the place of `PendingCalls`, and awaits nothing."""

    def start(self, work: LaneWork, refs: dict[str, Any], then: Any, otherwise: Any = None) -> None:
        pass


@pytest.fixture
def lanes() -> FakeLanes:
    return FakeLanes()


@pytest.fixture
def supervisor(lanes: Any, client: Any, make_spec: Callable[..., RunSpec], tmp_path: Path) -> LaneSupervisor:
    calls: Any = FakeCalls()
    gang: Any = SimpleNamespace(lanes=["trainer-0"], load=lambda *arguments, otherwise=None: None)
    prompts: Any = None
    return LaneSupervisor(
        answer=bootstrap_answer(make_spec(), "none", tmp_path),
        prompts=prompts,
        lanes=lanes,
        calls=calls,
        gang=gang,
        client=client,
        on_ready=lambda lane: None,
        poll_web=lambda: None,
    )


def lose(supervisor: LaneSupervisor, lane: str, num_times: int) -> None:
    for _ in range(num_times):
        supervisor.lost(lane, "killed")


def test_a_lost_lane_is_restarted_a_bounded_number_of_times(supervisor: LaneSupervisor, lanes: FakeLanes) -> None:
    supervisor.ready = {"rollout-0", "rollout-1"}
    lose(supervisor, "rollout-0", MAX_LANE_RESTARTS + 1)
    assert lanes["rollout-0"].num_restarts == MAX_LANE_RESTARTS
    assert supervisor.ready == {"rollout-1"}


def test_a_run_fails_when_every_lane_of_a_role_is_given_up(supervisor: LaneSupervisor) -> None:
    lose(supervisor, "rollout-0", MAX_LANE_RESTARTS + 1)
    lose(supervisor, "rollout-1", MAX_LANE_RESTARTS)
    with pytest.raises(LanesExhaustedError, match="every rollout lane was lost 4 times"):
        supervisor.lost("rollout-1", "killed")


def test_a_lane_whose_node_died_is_not_restarted(supervisor: LaneSupervisor, lanes: FakeLanes) -> None:
    supervisor.ready, lanes.dead = {"rollout-0", "rollout-1"}, {"rollout-0"}
    supervisor.lost("rollout-0", "its node died")
    assert lanes["rollout-0"].num_restarts == 0
    assert supervisor.ready == {"rollout-1"}


def test_an_attempt_that_lost_all_lanes_of_a_role_with_a_node_has_not_failed(
    supervisor: LaneSupervisor, lanes: FakeLanes
) -> None:
    lose(supervisor, "rollout-0", MAX_LANE_RESTARTS + 1)
    lanes.dead = {"rollout-1"}
    with pytest.raises(LanesLostError, match="no rollout lane is left, `rollout-1` was lost with its node last"):
        supervisor.lost("rollout-1", "its node died")


def test_a_lost_trainer_rank_is_never_restarted_alone(supervisor: LaneSupervisor, lanes: FakeLanes) -> None:
    with pytest.raises(RewindNeededError, match="trainer-0"):
        supervisor.lost("trainer-0", "killed")
    assert lanes["trainer-0"].num_restarts == 0


def test_the_switches_of_the_gang_are_those_that_it_was_loaded_for_last(supervisor: LaneSupervisor) -> None:
    before = supervisor.pipeline
    after = supervisor.pipeline = before.model_copy(update={"tag": TrainerAssist.GREEDY})
    assert supervisor.gang_pipeline == before
    supervisor.load_gang(lambda reports: None)
    assert supervisor.gang_pipeline == after


def test_a_start_is_reported_lane_by_lane(supervisor: LaneSupervisor, client: Any, lanes: FakeLanes) -> None:
    supervisor.place_all()
    supervisor.lost("rollout-1", "killed")
    steps = [(event.step.value, event.lanes) for event in client.events if event.type == "lane_start"]
    assert steps[0] == ("requested", tuple(ROLES))
    # A lane loads as soon as it is up, whatever others do.
    assert steps[1:-1] == [(step, (lane,)) for lane in ROLES for step in ("placed", "loading")]
    assert steps[-1] == ("requested", ("rollout-1",))
