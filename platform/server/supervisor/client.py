"""`up`'s side of the supervisor: starts it, sends it process specs, and reads its events.

Invariant: only `up` holds the writing end of the pipe to the supervisor, so the kernel closes it when `up` ends, and
the supervisor then ends the stack.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server.environment import ROOT
from server.errors import CannotStartError
from server.supervisor import daemon
from server.supervisor.process_logs import last_lines, open_log
from server.supervisor.process_spec import ProcessSpec, base_environment
from server.supervisor.process_tree import become_subreaper, kill_all_descendants

END_SECONDS = daemon.TERMINATE_SECONDS + daemon.DATABASE_SECONDS + 4.0


class StackError(CannotStartError):
    """The stack cannot continue. The message names the process, the reason and the log."""


@dataclass(slots=True)
class ProcessState:
    """What is known of one process of the stack."""

    name: str
    pid: int | None = None
    num_restarts: int = 0
    last_code: int | None = None
    """Exit code of its last end, negative for a signal; None while it has never ended."""

    @property
    def is_up(self) -> bool:
        return self.pid is not None


class Stack:
    """The processes of one data folder, as `up` sees them."""

    def __init__(self, process: subprocess.Popen[bytes], logs: Path) -> None:
        self.logs = logs
        self.states: dict[str, ProcessState] = {}
        self._supervisor = process
        self._buffer = b""

    @property
    def supervisor_pid(self) -> int:
        return self._supervisor.pid

    def start(self, spec: ProcessSpec) -> None:
        """Start a process and keep it running.

        Raises:
            StackError: the supervisor is gone.
        """
        self.states.setdefault(spec.name, ProcessState(spec.name))
        self._send({"do": "start", "spec": spec.to_json()})
        deadline = time.monotonic() + 10
        while not self.states[spec.name].is_up and time.monotonic() < deadline:
            self.listen(timeout_seconds=0.1)

    def listen(self, timeout_seconds: float = 0.0) -> None:
        """Read the supervisor's events.

        Raises:
            StackError: a process ended too often, or the supervisor is gone.
        """
        assert self._supervisor.stdout is not None
        readable, _, _ = select.select([self._supervisor.stdout], [], [], timeout_seconds)
        if not readable:
            return
        chunk = os.read(self._supervisor.stdout.fileno(), 1 << 16)
        if not chunk:
            raise StackError(f"The supervisor of the stack's processes is gone. See {self.logs / 'supervisor.log'}")
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        for line in lines:
            self._apply(json.loads(line))

    def exit_reason(self, name: str) -> str | None:
        """Why `name` is not running; None while it is."""
        self.listen()
        state = self.states[name]
        return None if state.is_up else f"exit code {state.last_code}; {last_lines(self.logs / f'{name}.log')}"

    def end(self) -> None:
        """End every process and the supervisor; returns when all are gone."""
        try:
            self._send({"do": "stop"})
            self._supervisor.wait(END_SECONDS)
        except (StackError, subprocess.TimeoutExpired):
            self._supervisor.kill()
            self._supervisor.wait()
        if self._supervisor.returncode != 0:
            # The supervisor did not end its processes, which are now children of this process.
            kill_all_descendants()

    def _apply(self, event: dict[str, Any]) -> None:
        if event["event"] == "ended":
            return
        state = self.states[event["name"]]
        state.num_restarts = event["num_restarts"]
        if event["event"] == "started":
            state.pid = event["pid"]
            return
        state.pid, state.last_code = None, event["code"]
        if event["event"] == "gave_up":
            log = self.logs / f"{state.name}.log"
            raise StackError(
                f"{state.name} ended {state.num_restarts + 1} times, the last ones within"
                f" {daemon.RESTART_WINDOW_SECONDS / 60:.0f} minutes and with code {state.last_code}. See {log}"
            )

    def _send(self, command: dict[str, Any]) -> None:
        assert self._supervisor.stdin is not None
        try:
            self._supervisor.stdin.write(json.dumps(command).encode() + b"\n")
            self._supervisor.stdin.flush()
        except BrokenPipeError:
            raise StackError(
                f"The supervisor of the stack's processes is gone. See {self.logs / 'supervisor.log'}"
            ) from None


@contextmanager
def running_stack(logs: Path, *, inherit: tuple[int, ...] = ()) -> Iterator[Stack]:
    """Start a supervisor; its stack ends with the block. `inherit`: descriptors that the supervisor holds until the
    last process is gone (the data folder's lock)."""
    # If the supervisor itself is killed, its processes become children of this process, which then ends them.
    become_subreaper()
    with open_log(logs, "supervisor") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "server.supervisor.daemon", str(logs)],
            cwd="/",
            env={**base_environment(), "PYTHONPATH": str(ROOT / "platform")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            pass_fds=inherit,
        )
    stack = Stack(process, logs)
    try:
        yield stack
    finally:
        stack.end()
