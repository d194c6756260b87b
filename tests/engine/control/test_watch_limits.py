"""How long a lane may stand still in its first call of a kind: what the plan says of one, and no flat half hour."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import SpecMaker
from tests.engine.control.watched_lanes import Watched
from tests.engine.driving import bootstrap_answer
from worker.contracts.lanes import LaneWork
from worker.engine.control.watch_limits import (
    COMPILING_SECONDS,
    FIRST_LIMIT_SECONDS,
    LEAST_FIRST_SECONDS,
    LEAST_LIMIT_SECONDS,
    PLANNED_CALLS,
    WatchLimits,
)
from worker.engine.devices.collective_timeout import COLLECTIVE_TIMEOUT
from worker.scheduling.core.costs import GANG, Cost, CostKind, dump_costs

PLANNED = {
    ("a", CostKind.GENERATE): Cost(1.0, 20.0),
    ("b", CostKind.GENERATE): Cost(1.0, 10.0),
    ("a", CostKind.PULL): Cost(0.5),
    ("a", CostKind.LEND): Cost(40.0),
    ("a", CostKind.RECLAIM): Cost(10.0),
    (GANG, CostKind.COMMIT): Cost(60.0),
}


@pytest.fixture
def planned(client: Any, make_spec: SpecMaker, tmp_path: Path) -> Watched:
    """Of a run with a plan; a fragment holds four trajectories."""
    return Watched(client, bootstrap_answer(make_spec(), "model", tmp_path, prior_costs=dump_costs(PLANNED)))


@pytest.mark.parametrize(
    ("lane", "work", "planned_seconds"),
    [
        ("a", LaneWork.GENERATE, 81.0),
        ("b", LaneWork.GENERATE, 41.0),
        # A lane that has joined since: the longest of those that were planned.
        ("c", LaneWork.GENERATE, 81.0),
        ("a", LaneWork.SWITCH, 40.0),
        # Of all ranks together.
        ("a", LaneWork.COMMIT, 60.0),
    ],
)
def test_work_that_was_planned_has_a_multiple_of_its_planned_seconds(
    planned: Watched, lane: str, work: LaneWork, planned_seconds: float
) -> None:
    planned.lanes.call(lane, work)
    planned.wait(PLANNED_CALLS * planned_seconds - 5)
    assert not planned.hung
    planned.wait(10)
    assert f"one was planned to take {planned_seconds:.1f} s" in planned.hung[lane]


def test_short_planned_work_has_time_for_what_only_a_first_call_does(planned: Watched) -> None:
    planned.lanes.call("a", LaneWork.PULL)
    planned.wait(LEAST_FIRST_SECONDS - 5)
    assert not planned.hung
    planned.wait(10)
    assert set(planned.hung) == {"a"} and LEAST_FIRST_SECONDS < FIRST_LIMIT_SECONDS


def test_what_was_measured_decides_over_what_was_planned(planned: Watched) -> None:
    planned.measure("a", LaneWork.COMMIT, 1.0)
    planned.lanes.call("a", LaneWork.COMMIT)
    planned.wait(LEAST_LIMIT_SECONDS + 5)
    assert "its like took at most 1.0 s" in planned.hung["a"]


def test_a_plan_says_nothing_of_checkpoints(planned: Watched) -> None:
    planned.lanes.call("a", LaneWork.CHECKPOINT)
    planned.wait(FIRST_LIMIT_SECONDS - 5)
    assert not planned.hung


def test_blocks_are_compiled_in_a_first_call_beside_what_was_planned(make_spec: SpecMaker, tmp_path: Path) -> None:
    spec = make_spec(performance={"compilation": "inductor"})
    limits = WatchLimits.of(bootstrap_answer(spec, "model", tmp_path, prior_costs=dump_costs(PLANNED)))
    assert limits.first_of("a", LaneWork.GENERATE) == PLANNED_CALLS * 81.0 + COMPILING_SECONDS
    assert limits.first_of("a", LaneWork.PULL) == LEAST_FIRST_SECONDS


def test_the_driver_sees_a_hang_before_torch_ends_the_ranks_that_wait(
    client: Any, make_spec: SpecMaker, tmp_path: Path
) -> None:
    """Torch's end says nothing of what the others wait in, and takes a rank that compiles for one that hangs."""
    half_an_hour = dump_costs({("a", CostKind.ACCUMULATE): Cost(0.0, 1800.0)})
    limits = WatchLimits.of(bootstrap_answer(make_spec(), "model", tmp_path, prior_costs=half_an_hour))
    longest = max(replace(limits, compiles=True).first_of("a", work) for work in LaneWork)
    assert longest > PLANNED_CALLS * 1800 > FIRST_LIMIT_SECONDS
    assert timedelta(seconds=longest) < COLLECTIVE_TIMEOUT
