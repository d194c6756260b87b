"""Machines join the pool by one command, a run works on their GPUs, and a node that dies is lost, not free.

The GPUs are recorded traces and compute on this machine's CPU; Ray, its nodes and everything else are real.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.stack import ROOT, Stack, running_stack
from tests.node.traces import cards, write_trace
from worker.contracts.node_reports import GPU_TRACE_VARIABLE

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


def joined(stack: Stack, name: str, trace: str, num_cpu_lanes: int = 1) -> subprocess.Popen[bytes]:
    """`python -m worker.node join` with a recorded trace, as a process group of its own."""
    head = f"127.0.0.1:{_gcs_port(stack)}"
    environment = {**os.environ, GPU_TRACE_VARIABLE: trace, "RAY_AUTH_TOKEN_PATH": str(stack.var / "ray-token")}
    environment.pop("RAY_AUTH_TOKEN", None)
    return subprocess.Popen(
        [sys.executable, "-m", "worker.node", "join", head, "--name", name, "--num-cpu-lanes", str(num_cpu_lanes)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _gcs_port(stack: Stack) -> int:
    """The port of the stack's Ray head, from its command line."""
    import psutil

    for process in psutil.Process(stack.pid).children(recursive=True):
        for flag in process.cmdline():
            if flag.startswith("--gcs_server_port=") or flag.startswith("--port="):
                return int(flag.partition("=")[2])
    raise AssertionError("the stack has no Ray head")


def wait_for_gpus(rest: Rest, node: str, number: int) -> None:
    wait_until(lambda: len(rest.results(f"/gpus?node={node}")) == number, f"the GPUs of {node}", START_SECONDS)


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
        assert used["rollout"] == ("big", ["GPU-h100-0"])
        assert used["trainer"] == ("big", ["GPU-h100-1"])
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
