"""Machines join the pool by one command, a run works on their GPUs, and a node that dies is lost, not free.

The GPUs are recorded traces and compute on this machine's CPU; Ray, its nodes and everything else are real.
"""

from typing import Any

import pytest

from tests.e2e.own_pool.joined_nodes import Nodes
from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.node.traces import cards

pytestmark = [pytest.mark.e2e, pytest.mark.ray]


@pytest.mark.timeout(900)
def test_a_run_works_on_gpus_of_nodes_that_joined_and_a_dead_node_is_lost(rest: Rest, nodes: Nodes) -> None:
    nodes.join("big", cards("H100", 2))
    nodes.join("small", cards("L40S", 1))
    assert {gpu["uuid"]: (gpu["node"], gpu["state"]) for gpu in rest.results("/gpus")} == {
        "GPU-h100-0": ("big", "available"),
        "GPU-h100-1": ("big", "available"),
        "GPU-l40s-0": ("small", "available"),
    }

    spec = rest.preset("shapes-quick")
    run = rest.start_run("on GPUs", spec)
    rest.run_when(run, lambda body: body["state"] == "completed", "the end", START_SECONDS)
    lanes: list[dict[str, Any]] = rest.get(f"/runs/{run}/timeline")["lanes"]
    used = {lane["role"]: (lane["node"], lane["uuids"]) for lane in lanes}
    assert {used["rollout"][0], used["trainer"][0]} == {"big"}
    assert {*used["rollout"][1], *used["trainer"][1]} == {"GPU-h100-0", "GPU-h100-1"}
    assert used["reward"][1] == []

    nodes.kill("small")
    wait_until(lambda: rest.results("/gpus?state=lost") != [], "the loss", 120)
    (lost,) = rest.results("/gpus?state=lost")
    assert (lost["uuid"], lost["changed_by"]) == ("GPU-l40s-0", "node agent")
    assert len(rest.results("/gpus?state=available")) == 2
