"""Which lanes are taken to hang, on a clock that the test sets."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import SpecMaker
from tests.engine.control.watched_lanes import Watched
from tests.engine.driving import bootstrap_answer
from worker.contracts.lanes import LaneWork
from worker.engine.actors.reports import OpenCollective
from worker.engine.control.cluster_lanes import PLACEMENT_TIMEOUT_SECONDS
from worker.engine.control.lane_watchdog import (
    ASK_SECONDS,
    MAX_SILENT_SECONDS,
    MAX_SILENT_SECONDS_OF_LOADING,
)
from worker.engine.control.pending_calls import OpenCall
from worker.engine.control.watch_limits import (
    FIRST_LIMIT_SECONDS,
    LEAST_LIMIT_SECONDS,
)


@pytest.fixture
def watched(client: Any, make_spec: SpecMaker, tmp_path: Path) -> Watched:
    """Of a run without a plan."""
    return Watched(client, bootstrap_answer(make_spec(), "model", tmp_path))


def test_a_stopped_lane_is_told_within_seconds_and_ended_within_a_minute(watched: Watched) -> None:
    watched.measure("a", LaneWork.GENERATE, 5.0)
    watched.lanes.call("a", LaneWork.GENERATE)
    watched.lanes.stopped.add("a")
    watched.wait(2 * ASK_SECONDS)
    assert watched.shown("a") == ["silent"]
    watched.wait(MAX_SILENT_SECONDS)
    assert watched.shown("a") == ["silent", "hung"]
    assert "has not answered" in watched.hung["a"]
    assert watched.client.events[-1].since == pytest.approx(watched.client.events[0].since, abs=2.0)


def test_a_lane_that_answers_and_does_no_step_is_slow_and_ended_at_its_limit(watched: Watched) -> None:
    watched.measure("a", LaneWork.GENERATE, 5.0)
    watched.lanes.call("a", LaneWork.GENERATE)
    watched.wait(LEAST_LIMIT_SECONDS - 2)
    assert watched.shown("a") == ["slow"]
    assert not watched.hung
    watched.wait(3)
    assert "generate (rollout.py:1)" in watched.hung["a"]
    assert "its like took at most 5.0 s" in watched.hung["a"]


def test_the_collectives_of_all_ranks_are_in_the_log_before_one_is_ended(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    collective = OpenCollective(
        rank=0,
        operation="nccl:all_reduce",
        group="0 default_pg",
        number=17,
        input_sizes=((1024, 8),),
        output_sizes=((1024, 8),),
        state="started",
        seconds=41.0,
    )
    watched.lanes.collectives = {"a": (), "b": (collective,) * 10, "c": None}
    watched.measure("a", LaneWork.COMMIT, 5.0)
    watched.lanes.call("a", LaneWork.COMMIT)
    watched.wait(LEAST_LIMIT_SECONDS + 1)
    assert set(watched.hung) == {"a"} and watched.lanes.asked_collectives == ["a"]
    told = "nccl:all_reduce of 1024×8, number 17 of group 0 default_pg, started 41 s ago"
    assert f"lane b (rank 0) has not completed {told}; {told}" in caplog.text
    assert "and 2 more" in caplog.text
    assert "lane a is in no collective" in caplog.text
    assert "lane c does not tell" in caplog.text


def test_the_limit_grows_with_the_longest_call_that_was_measured(watched: Watched) -> None:
    for seconds in (100.0, 5.0):
        watched.measure("a", LaneWork.CHECKPOINT, seconds)
    watched.lanes.call("a", LaneWork.CHECKPOINT)
    watched.wait(990)
    assert not watched.hung
    watched.wait(20)
    assert set(watched.hung) == {"a"}


def test_a_lane_whose_steps_go_on_is_never_ended_however_long_the_call(watched: Watched) -> None:
    watched.measure("a", LaneWork.GENERATE, 1.0)
    watched.lanes.call("a", LaneWork.GENERATE)
    watched.wait(20 * LEAST_LIMIT_SECONDS, steps_per_second=0.05, lane="a")
    assert not watched.hung
    assert "hung" not in watched.shown("a")


def test_work_that_was_never_measured_has_time(watched: Watched) -> None:
    watched.lanes.call("a", LaneWork.COMMIT)
    watched.wait(FIRST_LIMIT_SECONDS - 5)
    assert not watched.hung
    watched.wait(10)
    assert "no such call was measured" in watched.hung["a"]


def test_loading_has_its_time_even_where_it_was_quick_before_and_more_while_it_goes_on(watched: Watched) -> None:
    limit = watched.limits.least_of(LaneWork.LOAD)
    watched.measure("a", LaneWork.LOAD, 10.0)
    watched.lanes.call("a", LaneWork.LOAD)
    watched.wait(2 * limit, steps_per_second=0.05, lane="a")
    watched.wait(limit - 25)
    assert not watched.hung
    watched.wait(50)
    assert set(watched.hung) == {"a"}


def test_a_process_that_loads_may_be_silent_for_minutes(watched: Watched) -> None:
    watched.lanes.call("a", LaneWork.LOAD)
    watched.lanes.stopped.add("a")
    watched.wait(ASK_SECONDS + MAX_SILENT_SECONDS_OF_LOADING - 5)
    assert not watched.hung
    watched.wait(10)
    assert set(watched.hung) == {"a"}


def test_the_measurements_of_other_lanes_hold_for_a_new_one(watched: Watched) -> None:
    watched.measure("a", LaneWork.GENERATE, 50.0)
    watched.lanes.call("b", LaneWork.GENERATE)
    watched.wait(510)
    assert set(watched.hung) == {"b"}


def test_a_scorer_has_its_own_time_outs_and_retries(watched: Watched) -> None:
    watched.measure("r", LaneWork.SCORE, 0.1)
    watched.lanes.call("r", LaneWork.SCORE)
    watched.wait(watched.score_seconds + LEAST_LIMIT_SECONDS - 5)
    assert not watched.hung
    watched.wait(10)
    assert set(watched.hung) == {"r"}


def test_a_lane_that_goes_on_after_all_is_said_to(watched: Watched) -> None:
    watched.measure("a", LaneWork.GENERATE, 5.0)
    watched.lanes.call("a", LaneWork.GENERATE)
    watched.lanes.stopped.add("a")
    watched.wait(25)
    watched.lanes.stopped.clear()
    watched.wait(2)
    assert watched.shown("a") == ["silent", "working"]
    watched.lanes.stopped.add("a")
    watched.wait(25)
    watched.measure("a", LaneWork.GENERATE, 60.0)
    assert watched.shown("a") == ["silent", "working", "slow", "silent", "working"]


def test_a_machine_that_was_suspended_hangs_no_lane(watched: Watched) -> None:
    watched.measure("a", LaneWork.GENERATE, 5.0)
    watched.lanes.call("a", LaneWork.GENERATE)
    watched.lanes.stopped.add("a")
    watched.wait(15)
    watched.lanes.now += 3600.0
    watched.wait(MAX_SILENT_SECONDS - 5)
    assert not watched.hung
    watched.wait(10)
    assert set(watched.hung) == {"a"}


def test_a_call_that_waits_behind_another_has_its_time_from_then(watched: Watched) -> None:
    watched.measure("a", LaneWork.GENERATE, 5.0)
    watched.measure("a", LaneWork.PULL, 5.0)
    watched.lanes.call("a", LaneWork.GENERATE)
    begun = watched.lanes.oldest["a"].begun_at
    watched.wait(LEAST_LIMIT_SECONDS - 10)
    watched.measure("a", LaneWork.GENERATE, LEAST_LIMIT_SECONDS - 10)
    watched.lanes.oldest["a"] = OpenCall(LaneWork.PULL, begun)
    watched.wait(LEAST_LIMIT_SECONDS - 10)
    assert not watched.hung


def test_a_process_that_starts_is_not_asked_and_has_as_long_as_a_placement(watched: Watched) -> None:
    watched.lanes.call("a", LaneWork.START)
    watched.lanes.stopped.add("a")
    watched.wait(PLACEMENT_TIMEOUT_SECONDS - 5)
    assert not watched.hung
    watched.wait(10)
    assert watched.hung["a"] == "the cluster did not bring its process up within 120 s"
