"""Machines that join a stack's pool with recorded GPUs, as processes of this machine."""

import os
import subprocess
import sys

from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.stack import ROOT, Stack
from worker.contracts.node_reports import GPU_TRACE_VARIABLE


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
