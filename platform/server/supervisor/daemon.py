"""The keeper: parent of every process of the stack, in a session of its own, and the last one to leave.

`up` starts it and talks to it in JSON lines::

    up ── stdin ──►  {"do": "start", "plan": {…}}   {"do": "stop"}
    up ◄─ stdout ──  {"event": "started" | "exited" | "gave_up" | "ended", "name", "pid", "code", "num_restarts"}

Invariant: when its stdin closes, which the kernel does however `up` ends (kill -9 included), every process below
the keeper is gone within `POLITE_SECONDS` + `DATABASE_SECONDS` + 3 s, and then the keeper goes. As a subreaper it is
an ancestor of all of them, however they detach themselves.
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
from server.supervisor.process_tree import become_subreaper, descendants, kill_all_descendants, reap, send

POLL_SECONDS = 0.1
POLITE_SECONDS = 3.0
"""What processes get for a clean end, before their trees are killed."""
DATABASE_SECONDS = 3.5
"""What the servers that others write to get after that."""
RESTART_WINDOW_SECONDS = 600.0
"""More than a plan's `max_restarts` within this, and the keeper gives up on the process."""


@dataclass(slots=True)
class SupervisedProcess:
    """A process under care."""

    plan: ProcessSpec
    process: subprocess.Popen[bytes]
    """Held until it is collected: a dropped Popen is waited for by the next one, which would swallow its exit code."""
    pid: int | None
    """None once it has ended and was collected: its number may belong to somebody else by then."""
    restarted_at: list[float] = field(default_factory=list)
    num_restarts: int = 0
    restart_due: float | None = None


class Supervisor:
    """Runs the loop of the module docstring. Single-threaded: the death signals hang on the thread that forks."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.kept: dict[str, SupervisedProcess] = {}
        self._buffer = b""

    def run(self) -> None:
        """Serve until told to stop or stdin closes, then end everything."""
        become_subreaper()
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            # `up` decides when the stack ends; a terminal's or a session manager's signals are for `up`. A handler
            # and not SIG_IGN, which the processes started from here would inherit.
            signal.signal(number, lambda *_: None)
        while self._serve_commands():
            self._notice_ends()
            self._restart_due_ones()
        self.end_everything()
        self._tell(event="ended")

    def _serve_commands(self) -> bool:
        """Handle what stands on stdin. False once the stack is to end."""
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
            self._start(ProcessSpec.from_json(command["plan"]))
        return True

    def _start(self, plan: ProcessSpec) -> None:
        with open_log(self.logs, plan.name) as log:
            process = start(plan, log)
        kept = self.kept.setdefault(plan.name, SupervisedProcess(plan, process, process.pid))
        kept.process, kept.pid, kept.restart_due = process, process.pid, None
        self._tell(event="started", name=plan.name, pid=process.pid, num_restarts=kept.num_restarts)

    def _collect(self) -> list[tuple[SupervisedProcess, int]]:
        """The kept processes that ended since the last call, with their exit codes."""
        ended = reap()
        found = [(kept, ended[kept.pid]) for kept in self.kept.values() if kept.pid in ended]
        for kept, code in found:
            kept.pid, kept.process.returncode = None, code
        return found

    def _notice_ends(self) -> None:
        for kept, code in self._collect():
            self._plan_restart(kept, code)

    def _plan_restart(self, kept: SupervisedProcess, code: int) -> None:
        now = time.monotonic()
        kept.restarted_at = [at for at in kept.restarted_at if now - at < RESTART_WINDOW_SECONDS]
        self._tell(event="exited", name=kept.plan.name, code=code, num_restarts=kept.num_restarts)
        if len(kept.restarted_at) >= kept.plan.max_restarts:
            self._tell(event="gave_up", name=kept.plan.name, code=code, num_restarts=kept.num_restarts)
            return
        kept.restart_due = now + min(2.0 ** len(kept.restarted_at) - 1, 10.0)

    def _restart_due_ones(self) -> None:
        now = time.monotonic()
        for kept in self.kept.values():
            if kept.restart_due is None or now < kept.restart_due:
                continue
            # What the dead one left behind was adopted by us and may hold its ports.
            send(self._adopted(), signal.SIGKILL)
            kept.restarted_at.append(now)
            kept.num_restarts += 1
            self._start(kept.plan)

    def _adopted(self) -> list[psutil.Process]:
        own = {kept.pid for kept in self.kept.values()}
        orphans = [child for child in psutil.Process().children() if child.pid not in own]
        return [process for orphan in orphans for process in [*descendants(orphan.pid), orphan]]

    def end_everything(self) -> None:
        """Ask, wait, kill; the servers that the others write to come last."""
        last = [kept for kept in self.kept.values() if kept.plan.ends_last]
        self._end([kept for kept in self.kept.values() if not kept.plan.ends_last], POLITE_SECONDS)
        spared = {process.pid for kept in last for process in self._tree(kept)}
        send([process for process in descendants() if process.pid not in spared], signal.SIGKILL)
        self._end(last, DATABASE_SECONDS)
        left = kill_all_descendants()
        if left:
            print(f"these processes would not end: {left}", file=sys.stderr, flush=True)

    def _end(self, group: list[SupervisedProcess], timeout_seconds: float) -> None:
        for kept in group:
            if kept.pid is not None:
                os.kill(kept.pid, kept.plan.stop_signal)
        started = time.monotonic()
        while (waited := time.monotonic() - started) < timeout_seconds:
            self._collect()
            if all(kept.pid is None for kept in group):
                return
            for kept in group:
                if waited > kept.plan.stop_seconds:
                    send(self._tree(kept), signal.SIGKILL)
            time.sleep(0.05)

    @staticmethod
    def _tree(kept: SupervisedProcess) -> list[psutil.Process]:
        # Its pid cannot vanish between the lines: it stays a zombie until we collect it.
        return [] if kept.pid is None else [*descendants(kept.pid), psutil.Process(kept.pid)]

    @staticmethod
    def _tell(**event: Any) -> None:
        try:
            os.write(1, json.dumps(event).encode() + b"\n")
        except BrokenPipeError:
            return  # `up` is gone; the loop sees the same on stdin.


if __name__ == "__main__":
    Supervisor(Path(sys.argv[1])).run()
