"""A fork server of the tests, which has imported one small module in place of the libraries."""

import json
import os
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SERVE = """
import colorsys, fcntl, socket, sys
from worker.engine.forkserver.server import ForkServer, run_program

with socket.socket(socket.AF_UNIX) as listening, open(sys.argv[2], "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    listening.bind(sys.argv[1])
    listening.listen()
    ForkServer(listening, run_program, lock).serve(idle_seconds=float(sys.argv[3]))
"""
SECONDS = 30.0
"""Bounds a hang."""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@dataclass
class Server:
    """A server in a folder of its own."""

    folder: Path
    _process: subprocess.Popen[bytes] | None = field(default=None)
    _num_programs: int = 0

    @property
    def address(self) -> Path:
        return self.folder / "server.sock"

    @property
    def lock(self) -> Path:
        return self.folder / "server.lock"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "`start` was called first"
        return self._process

    def start(self, idle_seconds: float = SECONDS) -> None:
        """Start a server that ends after so many idle seconds, and wait until it listens."""
        command = [sys.executable, "-c", SERVE, str(self.address), str(self.lock), str(idle_seconds)]
        self._process = subprocess.Popen(command)
        # Its socket has a name a moment before it listens.
        until(self._listens)

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.address)) == 0

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def send(self, connection: socket.socket, text: str, *arguments: str, **environment: str) -> Path:
        """Ask for a program of this text on a connection; returns the file that it writes to."""
        self._num_programs += 1
        program = self.folder / f"program{self._num_programs}.py"
        program.write_text(textwrap.dedent(text))
        request = {"arguments": [str(program), *arguments], "environment": environment, "folder": str(self.folder)}
        output = program.with_suffix(".out")
        with output.open("w") as file:
            until(lambda: connection.connect_ex(str(self.address)) == 0)
            socket.send_fds(connection, [json.dumps(request).encode() + b"\n"], [file.fileno()] * 3)
        return output

    def run(self, text: str, *arguments: str, **environment: str) -> Path:
        """Have a program forked; returns the file that it writes to."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(SECONDS)
            output = self.send(connection, text, *arguments, **environment)
            assert connection.recv(1) == b"1"
        return output


def written(output: Path) -> Any:
    """The one line of JSON that a program writes, once it is there."""
    until(lambda: output.read_text().endswith("\n"))
    return json.loads(output.read_text())


def is_there(process: int) -> bool:
    """Whether a process runs, or nobody has asked for its end."""
    return Path(f"/proc/{process}").exists() and process != os.getpid()
