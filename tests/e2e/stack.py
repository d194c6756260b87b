"""The whole stack as a process of its own, on a folder and a port of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 180.0
STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Stack:
    address: str
    var: Path
    pid: int
    """The process that the others of the stack descend from."""

    @property
    def password(self) -> str:
        return (self.var / "admin-password").read_text().strip()


@contextmanager
def running_stack(var: Path, port: int | None = None, /, **settings: str) -> Iterator[Stack]:
    """`manage.py up` until the block ends; `settings` are further variables of its environment.

    Args:
        var: its data folder.
        port: of the web; a free one by default.

    Raises `RuntimeError` with the log's last lines when it does not come up.
    """
    port = port or free_port()
    log = var / "up.log"
    environment = {**os.environ, "TANDEM_VAR": str(var), "TANDEM_PORT": str(port), **settings}
    with log.open("wb") as output:
        process = subprocess.Popen(
            # A test or bench that is killed must leave no stack behind.
            [sys.executable, "manage.py", "up", "--with-parent"],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    stack = Stack(address=f"http://127.0.0.1:{port}", var=var, pid=process.pid)
    try:
        _wait_until_ready(stack, process, log)
        yield stack
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(stack: Stack, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            answer = httpx.get(f"{stack.address}/api/v1/health/ready", timeout=5)
        except httpx.TransportError:
            answer = None
        if answer is not None and answer.status_code == httpx.codes.OK:
            return
        time.sleep(0.5)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-25:])
    raise RuntimeError(f"the stack did not come up within {READY_SECONDS:.0f} s:\n{tail}")
