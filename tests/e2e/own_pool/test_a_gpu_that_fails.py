"""A GPU fails under a run, another has to be empty by a time: the run moves, and ends as if nothing had been.

The GPUs are recorded traces and compute on this machine's CPU; Ray, its nodes and everything else are real.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.own_pool.joined_nodes import Nodes
from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.node.traces import cards, replaced, with_faults

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow]
MOVE_SECONDS = 300.0
"""For a lane to join in another's place, or a gang to begin anew, on a busy machine."""


def lanes_by_gpu(rest: Rest, run: str) -> dict[str, str]:
    """By UUID: the lane of the run that has the GPU."""
    held = {lane["label"]: lane["role"] for lane in rest.results("/lanes") if lane["run_id"] == run}
    return {gpu["uuid"]: held[gpu["lane"]] for gpu in rest.results("/gpus") if gpu["lane"] in held}


@pytest.mark.timeout(1500)
def test_a_run_moves_off_a_failed_gpu_and_off_a_drained_one_and_the_failed_one_returns_by_a_test(
    rest: Rest, nodes: Nodes
) -> None:
    found = cards("H100", 4)
    nodes.join("big", found)
    spec = rest.preset("shapes-quick")
    spec["num_batches"] = 1000
    run = rest.start_run("moving", spec)
    rest.run_when(run, lambda body: body["num_batches_done"] >= 1, "the first batch", START_SECONDS)
    begun = lanes_by_gpu(rest, run)
    assert sorted(begun.values()) == ["rollout", "trainer"]
    failing = next(uuid for uuid, role in begun.items() if role == "rollout")

    index = next(number for number, card in enumerate(found) if card.identity.uuid == failing)
    nodes.replay("big", replaced(found, index, with_faults(found[index], xids={48: 1})))
    gpu = wait_for_gpu(rest, failing, "faulty")
    assert (gpu["changed_by"], gpu["remedy"]) == ("health", "reset the GPU")
    wait_until(lambda: failing not in lanes_by_gpu(rest, run), "a lane on another GPU", MOVE_SECONDS)
    assert sorted(lanes_by_gpu(rest, run).values()) == ["rollout", "trainer"]
    assert {gpu["state"] for gpu in rest.results("/gpus") if gpu["uuid"] != failing} == {"allocated", "available"}

    training = next(uuid for uuid, role in lanes_by_gpu(rest, run).items() if role == "trainer")
    key = wait_for_gpu(rest, training, "allocated")["id"]
    until = (datetime.now(UTC) + timedelta(minutes=20)).isoformat()
    rest.post(f"/gpus/{key}/actions", action="drain", reason="new fans", until=until)
    wait_until(lambda: training not in lanes_by_gpu(rest, run), "a gang on other GPUs", MOVE_SECONDS)
    wait_for_gpu(rest, training, "draining")

    done = rest.get(f"/runs/{run}")["num_batches_done"]
    rest.run_when(run, lambda body: body["num_batches_done"] > done, "a batch on the new lanes", MOVE_SECONDS)
    resizes = rest.get(f"/runs/{run}/size")["resizes"]
    assert [resize["cause"] for resize in resizes] == ["drain", "drain"]
    assert rest.get(f"/runs/{run}")["attempt"] == 1, "no attempt was lost"
    rest.act(run, "stop")
    rest.run_when(run, lambda body: body["state"] in ("stopped", "completed"), "the end", START_SECONDS)

    nodes.replay("big", found)
    key = wait_for_gpu(rest, failing, "faulty")["id"]
    rest.post(f"/gpus/{key}/actions", action="resume", reason="")
    wait_for_gpu(rest, failing, "available", MOVE_SECONDS)


def wait_for_gpu(rest: Rest, uuid: str, state: str, timeout_seconds: float = 60.0) -> dict[str, Any]:
    """The GPU, once it is in this state."""
    seen: list[dict[str, Any]] = []

    def look() -> bool:
        seen[:] = [gpu for gpu in rest.results("/gpus") if gpu["uuid"] == uuid]
        return seen[0]["state"] == state

    wait_until(look, f"{uuid} {state}", timeout_seconds)
    return seen[0]
