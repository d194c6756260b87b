"""Lanes whose processes do not answer, on real Ray."""

import os
import re
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
import ray

from tests.engine.conftest import SpecMaker
from tests.engine.driving import ONE_LANE, Driven, is_alive
from worker.engine.control.cluster_lanes import ClusterLanes

pytestmark = [pytest.mark.ray]


def test_a_lane_at_work_says_where_it_is(lanes: ClusterLanes) -> None:
    work = lanes[ONE_LANE].actor.load.remote(None, "", None)
    call = lanes.ask_progress(ONE_LANE)
    deadline = time.monotonic() + 30
    while (told := lanes.progress_told(call)) is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert told is not None and told.num_steps == 0
    with pytest.raises(AttributeError):
        ray.get(work)


def test_a_lane_in_no_group_is_in_no_collective(lanes: ClusterLanes) -> None:
    assert lanes.open_collectives(ONE_LANE) == {ONE_LANE: ()}


def test_a_stopped_process_is_ended_and_its_lane_starts_again_on_what_it_held(lanes: ClusterLanes) -> None:
    location = lanes[ONE_LANE].location
    assert location is not None
    os.kill(location.pid, signal.SIGSTOP)
    assert lanes.progress_told(lanes.ask_progress(ONE_LANE)) is None
    assert lanes.open_collectives(ONE_LANE) == {ONE_LANE: None}
    lanes.end_process(ONE_LANE)
    deadline = time.monotonic() + 10
    while is_alive(location.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(location.pid)
    lanes.restart(ONE_LANE)
    lanes.wait_until_up([ONE_LANE], lambda: None, lambda lanes: None)
    assert lanes[ONE_LANE].location != location


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_collective_that_waits_for_a_stopped_rank_is_broken_and_the_gang_starts_again(
    drive: Callable[..., Driven], make_spec: SpecMaker
) -> None:
    # In ZeRO 2 ranks reduce in every pass: in ZeRO 0 the other one would be idle until this one has accumulated.
    sections: dict[str, Any] = {"deepspeed": {"config": "zero2"}, "checkpoint": {"every_num_batches": 1}}
    driven = drive(make_spec(num_batches=40, lanes={"num_trainer": 2}, **sections))
    driven.until_batch(1)
    driven.command("c1", "pause")
    driven.until(lambda: driven.states()[-1:] == ["paused"])
    before = driven.pids()
    os.kill(before["trainer-1"], signal.SIGSTOP)
    driven.command("c2", "resume")
    assert driven.finish() == 0
    assert driven.states()[-1] == "completed"
    hung = [event["lane"] for event in driven.ingest.of_type("lane_stall") if event["state"] == "hung"]
    assert hung == ["trainer-1"], "the other rank waits for it, and answers"
    logged = [event["message"] for event in driven.ingest.of_type("log") if "trainer" in event["message"]]
    waits = r"lane trainer-0 \(rank 0\) has not completed gloo:\w+.*, number \d+ of group .*, scheduled \d+ s ago"
    assert any(re.match(waits, message) for message in logged), logged
    assert "lane trainer-1 does not tell what collectives it is in" in logged
    after = driven.pids()
    assert not any(is_alive(before[lane]) for lane in ("trainer-0", "trainer-1"))
    assert after["rollout-0"] == before["rollout-0"], "lanes that are well stay"
    assert max(event["batch"] for event in driven.ingest.of_type("resumed")) >= 1


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_trainer_lane_that_is_lost_while_it_loads_is_started_again(
    drive: Callable[..., Driven], make_spec: SpecMaker
) -> None:
    driven = drive(make_spec(num_batches=1))
    driven.until(lambda: bool(driven.ingest.of_type("lanes")))
    lost = driven.pids()["trainer-0"]
    os.kill(lost, signal.SIGKILL)
    assert driven.finish() == 0
    assert driven.states()[-1] == "completed"
    assert driven.pids()["trainer-0"] != lost
