"""Calls on several lanes of which some raise: what follows is decided once."""

import pytest
import ray

from worker.contracts.lanes import LaneWork
from worker.engine.control.pending_calls import PendingCalls
from worker.engine.errors import EngineError

pytestmark = pytest.mark.ray


@ray.remote(num_cpus=0)
def fail(reason: str) -> None:
    raise ValueError(reason)


def test_an_error_of_another_class_than_the_tolerated_one_ends_the_run(ray_address: str) -> None:
    calls = PendingCalls(on_report=lambda lane, work, report: None, on_lane_lost=lambda lane, reason: None)
    refs = {"trainer-0": fail.remote("no such key")}
    reasons: list[str] = []
    calls.start(LaneWork.CHECKPOINT, refs, lambda reports: None, otherwise=reasons.append, tolerated=EngineError)
    with pytest.raises(ValueError, match="no such key"):
        while len(calls):
            calls.step(1.0)
    assert reasons == []


def test_where_several_lanes_of_a_call_raise_the_call_fails_once(ray_address: str) -> None:
    calls = PendingCalls(on_report=lambda lane, work, report: None, on_lane_lost=lambda lane, reason: None)
    refs = {lane: fail.remote(f"{lane} has no memory") for lane in ("trainer-0", "trainer-1")}
    reasons: list[str] = []
    calls.start(LaneWork.LOAD, refs, lambda reports: pytest.fail("no lane has answered"), otherwise=reasons.append)
    while len(calls):
        calls.step(1.0)
    assert reasons in (["ValueError: trainer-0 has no memory"], ["ValueError: trainer-1 has no memory"])


def test_a_call_that_no_lane_has_to_answer_goes_on_in_the_next_step_without_waiting_for_others(
    ray_address: str,
) -> None:
    calls = PendingCalls(on_report=lambda lane, work, report: None, on_lane_lost=lambda lane, reason: None)
    calls.start(LaneWork.GENERATE, {"trainer-1": fail.remote("never read")}, lambda reports: None)
    done: list[str] = []

    def switched(reports: object) -> None:
        done.append("first")
        calls.start(LaneWork.SWITCH, {}, lambda reports: done.append("second"))

    calls.start(LaneWork.SWITCH, {}, switched)
    assert (len(calls), calls.busy_lanes) == (2, {"trainer-1"})
    calls.step(60.0)
    assert done == ["first"], "what it starts comes in the step after"
    calls.step(60.0)
    assert (done, len(calls)) == (["first", "second"], 1)
