"""Finds and ends every process below one. The supervisor is a subreaper, so no process below it can detach."""

import ctypes
import os
import signal
import time

import psutil

from server.supervisor.process_spec import NAME_VARIABLE

PR_SET_CHILD_SUBREAPER = 36


def become_subreaper() -> None:
    """Orphans below this process become its children instead of init's. Ray's daemons would detach otherwise."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int | None = None) -> list[psutil.Process]:
    """Every live process below `pid` (this process by default), zombies left out."""
    try:
        found = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [process for process in found if _is_live(process)]


def started_by(process: psutil.Process) -> str | None:
    """The name of the supervised process that this one descends from; `None` where nothing tells it, as of
    PostgreSQL's, which write their titles over their environment."""
    try:
        return process.environ().get(NAME_VARIABLE)
    except psutil.Error:
        return None


def send(processes: list[psutil.Process], number: int) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


def reap() -> dict[int, int]:
    """Reap every ended child, adopted ones included; returns exit codes by pid, negative for a signal."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = os.waitstatus_to_exitcode(status)


def kill_all_descendants(timeout_seconds: float = 3.0) -> list[int]:
    """Kill until no process is left below this one. Returns the pids that did not end (blocked in the kernel)."""
    deadline = time.monotonic() + timeout_seconds
    while left := descendants():
        if time.monotonic() > deadline:
            return [process.pid for process in left]
        send(left, signal.SIGKILL)
        time.sleep(0.05)
        reap()
    return []


def _is_live(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
