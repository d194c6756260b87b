"""Which versions are broadcast to which lanes, on lanes that only note what they are told."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.engine.actors.reports import BroadcastReport
from worker.engine.control.broadcasts import MAX_FAILURES, MAX_LANE_FAILURES, NUM_VERSIONS_ASIDE, Broadcasts
from worker.engine.sync.broadcast_plan import BroadcastEndpoint, BroadcastPlan, ShardLayout
from worker.engine.types import PullReceipt

MakeSpec = Callable[..., RunSpec]
LAYOUT = ShardLayout((), 64)
RANKS = ("trainer-0", "trainer-1")
BOTH = ("rollout-0", "rollout-1")
SENT = BroadcastReport(shards=())


def without(*lanes: str) -> BroadcastReport:
    """What a source reports whose broadcast these lanes had no memory for."""
    return BroadcastReport(shards=(), failure="no memory", absent=lanes)


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
def broadcasts(lanes: NotingLanes) -> Broadcasts:
    made = Broadcasts(lanes, ready=lambda: lanes.rollout)  # type: ignore[arg-type]
    made.open({lane: BroadcastEndpoint(address="a", port=1, layouts=(LAYOUT, LAYOUT)) for lane in RANKS})
    return made


def planned(broadcasts: Broadcasts, policy_version: int = 1) -> BroadcastPlan:
    plan = broadcasts.plan(policy_version)
    assert plan is not None
    return plan


def test_one_plan_serves_until_the_set_of_lanes_changes(broadcasts: Broadcasts, lanes: NotingLanes) -> None:
    first = planned(broadcasts)
    assert (first.lanes, len(first.sources)) == (("rollout-0", "rollout-1"), 2)
    assert broadcasts.plan(2) is first
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
    assert lanes.stopped == [] and broadcasts.plan(2) is plan


def test_broadcasts_that_fail_in_succession_are_given_up(
    broadcasts: Broadcasts, caplog: pytest.LogCaptureFixture
) -> None:
    no_route = [BroadcastReport(shards=(), failure="no route")]
    for number in range(MAX_FAILURES - 1):
        assert broadcasts.ended(planned(broadcasts), number, no_route) is None
    # One that works makes the others forgotten.
    assert broadcasts.ended(planned(broadcasts), 3, [SENT]) is not None
    for number in range(MAX_FAILURES):
        assert broadcasts.ended(planned(broadcasts), number, no_route) is None
    assert broadcasts.plan(9) is None
    assert "and so do all others" in caplog.messages[-1] and "no route" in caplog.messages[-1]


def test_a_lane_that_fails_again_is_left_out_for_some_versions_and_tried_again(
    broadcasts: Broadcasts, caplog: pytest.LogCaptureFixture
) -> None:
    for version in range(1, MAX_LANE_FAILURES + 1):
        assert planned(broadcasts, version).lanes == BOTH
        assert broadcasts.ended(planned(broadcasts, version), version, [SENT, without("rollout-1")]) is None
    assert f"({MAX_LANE_FAILURES} in succession): no memory" in caplog.messages[-1]
    assert f"so do the {NUM_VERSIONS_ASIDE} after it for this lane" in caplog.messages[-1]
    for version in range(MAX_LANE_FAILURES + 1, MAX_LANE_FAILURES + 1 + NUM_VERSIONS_ASIDE):
        plan = planned(broadcasts, version)
        done = broadcasts.ended(plan, version, [SENT, SENT])
        assert done is not None and done.lanes == ("rollout-0",)
    back = MAX_LANE_FAILURES + 1 + NUM_VERSIONS_ASIDE
    assert planned(broadcasts, back).lanes == BOTH
    # One attempt, and it is left out again.
    broadcasts.ended(planned(broadcasts, back), back, [without("rollout-1"), SENT])
    assert planned(broadcasts, back + 1).lanes == ("rollout-0",)


def test_a_version_that_a_lane_binds_from_its_broadcast_makes_its_failures_forgotten(broadcasts: Broadcasts) -> None:
    for version in range(1, 5 * MAX_LANE_FAILURES):
        assert planned(broadcasts, version).lanes == BOTH
        broadcasts.ended(planned(broadcasts, version), version, [without("rollout-1")])
        receipt = PullReceipt(policy_version=version, num_bound_tensors=1, sha256="", is_direct=True)
        broadcasts.pulled("rollout-1", receipt)


def test_the_next_process_of_a_lane_that_was_left_out_is_tried_at_once(
    broadcasts: Broadcasts, lanes: NotingLanes
) -> None:
    for version in range(1, MAX_LANE_FAILURES + 1):
        broadcasts.ended(planned(broadcasts, version), version, [without("rollout-1")])
    assert planned(broadcasts, 4).lanes == ("rollout-0",)
    broadcasts.lost("rollout-1", "killed")
    assert planned(broadcasts, 5).lanes == BOTH


def test_lanes_that_all_lack_the_memory_leave_versions_to_the_store_without_ending_broadcasts(
    broadcasts: Broadcasts,
) -> None:
    for version in range(1, MAX_LANE_FAILURES + 1):
        assert broadcasts.ended(planned(broadcasts, version), version, [without(*BOTH)] * 2) is None
    for version in range(MAX_LANE_FAILURES + 1, MAX_LANE_FAILURES + 1 + NUM_VERSIONS_ASIDE):
        assert broadcasts.plan(version) is None
    assert planned(broadcasts, MAX_LANE_FAILURES + 1 + NUM_VERSIONS_ASIDE).lanes == BOTH


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
    assert broadcasts.plan(1) is None
    lanes.rollout.append("rollout-0")
    assert broadcasts.plan(1) is not None
    broadcasts.close()
    assert broadcasts.plan(1) is None
    broadcasts.open({"trainer-0": None})
    assert broadcasts.plan(1) is None, "emulated ranks broadcast nothing"
