"""Machines join the pool by one command, a run works on their GPUs, and a node that dies is lost, not free.

The GPUs are recorded traces and compute on this machine's CPU; Ray, its nodes and everything else are real.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.joined_nodes import joined, wait_for_gpus
from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.stack import Stack, running_stack
from tests.node.traces import cards, write_trace

pytestmark = [pytest.mark.e2e, pytest.mark.ray]


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """A stack of its own, since with GPUs in the pool runs leave its CPU lanes alone."""
    with running_stack(tmp_path) as running:
        yield running


@pytest.fixture
def rest(stack: Stack) -> Iterator[Rest]:
    client = Rest.log_in(stack)
    yield client
    client.close()


@pytest.fixture(autouse=True)
def nothing_left_running() -> None:
    """The stack ends with the test."""


@pytest.mark.timeout(900)
def test_a_run_works_on_gpus_of_nodes_that_joined_and_a_dead_node_is_lost(
    stack: Stack, rest: Rest, tmp_path: Path
) -> None:
    nodes: dict[str, subprocess.Popen[bytes]] = {}
    try:
        # One after the other, since two nodes that start on one machine at once may choose the same ports.
        for name, found in (("big", cards("H100", 2)), ("small", cards("L40S", 1))):
            nodes[name] = joined(stack, name, write_trace(tmp_path / name, (0.0, found)))
            wait_for_gpus(rest, name, len(found))
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

        os.killpg(nodes["small"].pid, signal.SIGKILL)
        wait_until(lambda: rest.results("/gpus?state=lost") != [], "the loss", 120)
        (lost,) = rest.results("/gpus?state=lost")
        assert (lost["uuid"], lost["changed_by"]) == ("GPU-l40s-0", "node agent")
        assert len(rest.results("/gpus?state=available")) == 2
    finally:
        for process in nodes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(30)
