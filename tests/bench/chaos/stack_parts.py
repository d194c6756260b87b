"""The processes of a stack that faults strike: found below the stack's own process, never by name over the machine."""

from enum import StrEnum

import psutil

from tests.e2e.stack import Stack


class Part(StrEnum):
    """A process that the stack's supervisor keeps, or the driver that Ray keeps."""

    WEB = "web"
    TASKS = "Celery worker"
    VALKEY = "Valkey"
    POSTGRES = "PostgreSQL"
    RAY = "Ray head"
    DRIVER = "driver"


COMMANDS: dict[Part, tuple[str, ...]] = {
    Part.WEB: ("uvicorn", "server.asgi:application"),
    Part.TASKS: ("celery", "server.celery_app:app"),
    Part.VALKEY: ("valkey-server",),
    Part.POSTGRES: ("postgres", "-D"),
    Part.RAY: ("ray_start.py", "--head"),
    Part.DRIVER: ("-m", "worker.engine"),
}
"""What each part is told by: its process's name, or arguments of its command line, paths by their file's name."""


def pid_of(stack: Stack, part: Part) -> int | None:
    """The part's process below the stack's own, the uppermost where it has children of the same command; None while
    there is none."""
    found = {process.pid: process for process in _below(stack) if _is(process, part)}
    for pid, process in found.items():
        if process.ppid() not in found:
            return pid
    return None


def is_below(stack: Stack, pid: int) -> bool:
    """Whether a live process is the stack's, so that it may be struck, and counts as left behind after its run."""
    return any(process.pid == pid for process in _below(stack))


def _below(stack: Stack) -> list[psutil.Process]:
    live = []
    for process in psutil.Process(stack.pid).children(recursive=True):
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                live.append(process)
        except psutil.NoSuchProcess:
            continue
    return live


def _is(process: psutil.Process, part: Part) -> bool:
    try:
        arguments = {process.name(), *(argument.rpartition("/")[2] for argument in process.cmdline())}
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
    return arguments.issuperset(COMMANDS[part])
