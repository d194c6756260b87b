"""Which versions are broadcast to which lanes, on lanes that only note what they are told."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.engine.control.broadcasts import MAX_FAILURES, Broadcasts
from worker.engine.sync.broadcast_plan import BroadcastEndpoint, BroadcastPlan, ShardLayout
from worker.engine.types import PullReceipt

MakeSpec = Callable[..., RunSpec]
LAYOUT = ShardLayout((), 64)
RANKS = ("trainer-0", "trainer-1")


class NotingLanes:
    """Lanes by role, whose actors note the plans that they are to stop."""

    def __init__(self) -> None:
        self.rollout = ["rollout-0", "rollout-1"]
        self.stopped: list[tuple[str, int]] = []

    def names(self, role: LaneRole | None = None) -> list[str]:
        return [*self.rollout, *(() if role is LaneRole.ROLLOUT else RANKS)]

    def __getitem__(self, lane: str) -> Any:
        note = SimpleNamespace(remote=lambda number, _: self.stopped.append((lane, number)))
        return SimpleNamespace(actor=SimpleNamespace(stop_broadcasts=note))


@pytest.fixture
def lanes() -> NotingLanes:
    return NotingLanes()


@pytest.fixture
def broadcasts(lanes: NotingLanes, make_spec: MakeSpec) -> Broadcasts:
    made = Broadcasts(make_spec(pipeline={"publishing": "direct"}), lanes, ready=lambda: lanes.rollout)  # type: ignore[arg-type]
    made.open({lane: BroadcastEndpoint(address="a", port=1, layouts=(LAYOUT, LAYOUT)) for lane in RANKS})
    return made


def planned(broadcasts: Broadcasts) -> BroadcastPlan:
    plan = broadcasts.plan()
    assert plan is not None
    return plan


def test_one_plan_serves_until_the_set_of_lanes_changes(broadcasts: Broadcasts, lanes: NotingLanes) -> None:
    first = planned(broadcasts)
    assert (first.lanes, len(first.sources)) == (("rollout-0", "rollout-1"), 2)
    assert broadcasts.plan() is first
    lanes.rollout.append("rollout-2")
    second = planned(broadcasts)
    assert second.number == first.number + 1 and second.lanes[-1] == "rollout-2"


def test_a_lost_lane_is_not_waited_for_and_its_next_process_gets_a_plan_of_its_own(
    broadcasts: Broadcasts, lanes: NotingLanes
) -> None:
    first = planned(broadcasts)
    broadcasts.lost("rollout-1", "killed")
    assert sorted(lanes.stopped) == [(lane, first.number) for lane in ("rollout-0", *RANKS)]
    # The lane is back under its name before the next version.
    assert planned(broadcasts).number == first.number + 1


def test_a_lane_that_no_plan_holds_stops_nothing(broadcasts: Broadcasts, lanes: NotingLanes) -> None:
    plan = planned(broadcasts)
    broadcasts.lost("reward-0", "killed")
    assert lanes.stopped == [] and broadcasts.plan() is plan


def test_broadcasts_that_fail_in_succession_are_given_up(
    broadcasts: Broadcasts, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(MAX_FAILURES - 1):
        assert broadcasts.ended(planned(broadcasts), number, ["no route"]) is None
    # One that works makes the others forgotten.
    assert broadcasts.ended(planned(broadcasts), 3, []) is not None
    for number in range(MAX_FAILURES):
        assert broadcasts.ended(planned(broadcasts), number, ["no route"]) is None
    assert broadcasts.plan() is None
    assert "and so do all others" in caplog.messages[-1] and "no route" in caplog.messages[-1]


def test_a_pull_that_was_missed_is_counted_and_leads_to_another_plan(
    broadcasts: Broadcasts, caplog: pytest.LogCaptureFixture
) -> None:
    first = planned(broadcasts)
    receipt = PullReceipt(policy_version=3, num_bound_tensors=1, sha256="", missed="its process was started later")
    for _ in range(2):
        broadcasts.pulled("rollout-1", receipt)
    assert "(2 such pulls): its process was started later" in caplog.messages[-1]
    assert planned(broadcasts).number == first.number + 1


def test_without_ready_lanes_or_without_a_gang_the_store_alone_serves(
    broadcasts: Broadcasts, lanes: NotingLanes
) -> None:
    lanes.rollout.clear()
    assert broadcasts.plan() is None
    lanes.rollout.append("rollout-0")
    assert broadcasts.plan() is not None
    broadcasts.close()
    assert broadcasts.plan() is None
    broadcasts.open({"trainer-0": None})
    assert broadcasts.plan() is None, "emulated ranks broadcast nothing"
