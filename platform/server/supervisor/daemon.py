"""The supervisor: parent of every process of the stack, in a session of its own, and the last one to end.

`up` starts it and talks to it in JSON lines::

    up ── stdin ──►  {"do": "start", "spec": {…}}   {"do": "stop"}
    up ◄─ stdout ──  {"event": "started" | "exited" | "gave_up" | "ended", "name", "pid", "code", "num_restarts"}

Invariant: when its stdin closes, which the kernel does however `up` ends (kill -9 included), every process below the
supervisor is gone within `TERMINATE_SECONDS` + `DATABASE_SECONDS` + 3 s, and then the supervisor ends. As a subreaper
it stays an ancestor of all of them, even of those that detach.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from server.supervisor.process_logs import open_log
from server.supervisor.process_spec import ProcessSpec, start
from server.supervisor.process_tree import (
    become_subreaper,
    descendants,
    kill_all_descendants,
    reap,
    send,
    started_by,
)

POLL_SECONDS = 0.1
TERMINATE_SECONDS = 3.0
"""Time that processes have for a clean end before their process trees are killed."""
DATABASE_SECONDS = 3.5
"""Time that processes with `ends_last` have after that."""
RESTART_WINDOW_SECONDS = 600.0
"""With more than `ProcessSpec.max_restarts` restarts within this time, the supervisor gives up on the process."""


@dataclass(slots=True)
class SupervisedProcess:
    """A process that the supervisor keeps running."""

    spec: ProcessSpec
    process: subprocess.Popen[bytes]
    """Held until the process is reaped, because the next Popen reaps dropped ones and loses their exit codes."""
    pid: int | None
    """None once the process has ended and was reaped, since its pid may be reused."""
    restarted_at: list[float] = field(default_factory=list)
    num_restarts: int = 0
    restart_due: float | None = None


class Supervisor:
    """Runs the loop of the module docstring. Single-threaded, because death signals are tied to the forking thread."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.supervised: dict[str, SupervisedProcess] = {}
        self._buffer = b""

    def run(self) -> None:
        """Serve until a stop command or the end of stdin, then end every process."""
        become_subreaper()
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            # `up` decides when the stack ends; a terminal's or a session manager's signals are for `up`. A handler
            # and not SIG_IGN, which the processes started from here would inherit.
            signal.signal(number, lambda *_: None)
        while self._serve_commands():
            self._handle_ended()
            self._restart_due_ones()
        self.end_everything()
        self._report(event="ended")

    def _serve_commands(self) -> bool:
        """Handle the commands on stdin. False once the stack has to end."""
        readable, _, _ = select.select([0], [], [], POLL_SECONDS)
        if not readable:
            return True
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return False
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        for line in lines:
            command = json.loads(line)
            if command["do"] == "stop":
                return False
            self._start(ProcessSpec.from_json(command["spec"]))
        return True

    def _start(self, spec: ProcessSpec) -> None:
        with open_log(self.logs, spec.name) as log:
            process = start(spec, log)
        supervised = self.supervised.setdefault(spec.name, SupervisedProcess(spec, process, process.pid))
        supervised.process, supervised.pid, supervised.restart_due = process, process.pid, None
        self._report(event="started", name=spec.name, pid=process.pid, num_restarts=supervised.num_restarts)

    def _collect(self) -> list[tuple[SupervisedProcess, int]]:
        """The kept processes that ended since the last call, with their exit codes."""
        ended = reap()
        found = [
            (supervised, ended[supervised.pid]) for supervised in self.supervised.values() if supervised.pid in ended
        ]
        for supervised, code in found:
            supervised.pid, supervised.process.returncode = None, code
        return found

    def _handle_ended(self) -> None:
        for supervised, code in self._collect():
            self._schedule_restart(supervised, code)

    def _schedule_restart(self, supervised: SupervisedProcess, code: int) -> None:
        now = time.monotonic()
        supervised.restarted_at = [at for at in supervised.restarted_at if now - at < RESTART_WINDOW_SECONDS]
        self._report(event="exited", name=supervised.spec.name, code=code, num_restarts=supervised.num_restarts)
        if len(supervised.restarted_at) >= supervised.spec.max_restarts:
            self._report(event="gave_up", name=supervised.spec.name, code=code, num_restarts=supervised.num_restarts)
            return
        supervised.restart_due = now + min(2.0 ** len(supervised.restarted_at) - 1, 10.0)

    def _restart_due_ones(self) -> None:
        now = time.monotonic()
        for supervised in self.supervised.values():
            if supervised.restart_due is None or now < supervised.restart_due:
                continue
            send(self._left_behind(supervised.spec.name), signal.SIGKILL)
            supervised.restarted_at.append(now)
            supervised.num_restarts += 1
            self._start(supervised.spec)

    def _left_behind(self, name: str) -> list[psutil.Process]:
        """What a process that has ended left behind, which may hold its ports, and what nobody knows whose it is. The
        supervisor has adopted it; of what it has adopted some is still in use, as what Ray's lanes are forked from."""
        own = {supervised.pid for supervised in self.supervised.values()}
        others = self.supervised.keys() - {name}
        orphans = [child for child in psutil.Process().children() if child.pid not in own]
        left = [orphan for orphan in orphans if started_by(orphan) not in others]
        return [process for orphan in left for process in [*descendants(orphan.pid), orphan]]

    def end_everything(self) -> None:
        """Signal every process, wait, kill; processes with `ends_last` come last."""
        last = [supervised for supervised in self.supervised.values() if supervised.spec.ends_last]
        self._end(
            [supervised for supervised in self.supervised.values() if not supervised.spec.ends_last],
            TERMINATE_SECONDS,
        )
        spared = {process.pid for supervised in last for process in self._tree(supervised)}
        send([process for process in descendants() if process.pid not in spared], signal.SIGKILL)
        self._end(last, DATABASE_SECONDS)
        left = kill_all_descendants()
        if left:
            print(f"these processes would not end: {left}", file=sys.stderr, flush=True)

    def _end(self, group: list[SupervisedProcess], timeout_seconds: float) -> None:
        for supervised in group:
            if supervised.pid is not None:
                os.kill(supervised.pid, supervised.spec.stop_signal)
        started = time.monotonic()
        while (waited := time.monotonic() - started) < timeout_seconds:
            self._collect()
            if all(supervised.pid is None for supervised in group):
                return
            for supervised in group:
                if waited > supervised.spec.stop_seconds:
                    send(self._tree(supervised), signal.SIGKILL)
            time.sleep(0.05)

    @staticmethod
    def _tree(supervised: SupervisedProcess) -> list[psutil.Process]:
        # The pid stays valid here: an ended process is a zombie until it is reaped.
        return [] if supervised.pid is None else [*descendants(supervised.pid), psutil.Process(supervised.pid)]

    @staticmethod
    def _report(**event: Any) -> None:
        try:
            os.write(1, json.dumps(event).encode() + b"\n")
        except BrokenPipeError:
            return  # `up` is gone; the loop sees the same on stdin.


if __name__ == "__main__":
    Supervisor(Path(sys.argv[1])).run()
