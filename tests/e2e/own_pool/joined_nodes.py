"""Machines that join a stack's pool with recorded GPUs, as processes of this machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.stack import ROOT, Stack
from tests.node.traces import write_trace
from worker.contracts.node_reports import GPU_TRACE_VARIABLE, GpuReport

STOP_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Nodes:
    """The machines that a test lets join, by name."""

    stack: Stack
    rest: Rest
    folder: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def join(self, name: str, found: Sequence[GpuReport], num_cpu_lanes: int = 1) -> None:
        """`python -m worker.node join` on a machine with these GPUs; returns once the pool has them.

        One after the other, since two nodes that start on one machine at once may choose the same ports.
        """
        self.replay(name, found)
        environment = {
            **os.environ,
            GPU_TRACE_VARIABLE: str(self._trace(name)),
            "RAY_AUTH_TOKEN_PATH": str(self.stack.var / "ray-token"),
        }
        environment.pop("RAY_AUTH_TOKEN", None)
        head = f"127.0.0.1:{_gcs_port(self.stack)}"
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", "worker.node", "join", head, "--name", name, "--num-cpu-lanes", str(num_cpu_lanes)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        gpus = f"/gpus?node={name}"
        wait_until(lambda: len(self.rest.results(gpus)) == len(found), f"the GPUs of {name}", START_SECONDS)

    def replay(self, name: str, found: Sequence[GpuReport]) -> None:
        """From now on the machine's reader answers these GPUs."""
        write_trace(self._trace(name), (0.0, found))

    def kill(self, name: str) -> None:
        """As a machine without power: nothing says goodbye."""
        os.killpg(self.processes[name].pid, signal.SIGKILL)

    def stop(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(STOP_SECONDS)

    def _trace(self, name: str) -> Path:
        return self.folder / f"{name}.trace"


def _gcs_port(stack: Stack) -> int:
    """The port of the stack's Ray head, from its command line."""
    import psutil

    for process in psutil.Process(stack.pid).children(recursive=True):
        for flag in process.cmdline():
            if flag.startswith("--gcs_server_port=") or flag.startswith("--port="):
                return int(flag.partition("=")[2])
    raise AssertionError("the stack has no Ray head")
