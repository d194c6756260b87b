"""The description of a process of the stack, and the function that starts it. Standard library only, to keep the
supervisor small.

Invariant: a process started here gets its death signal when the process that started it dies, however that happens.
"""

import ctypes
import os
import pwd
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

PR_SET_PDEATHSIG = 1
NAME_VARIABLE = "TANDEM_PROCESS"
"""In the environment of each process, and so of all that it starts: its name."""
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """One process: what runs, as whom, and how it is asked to end.

    `folder_fd_path`: a folder handed over as an open descriptor; `{folder}` in `argv` becomes its path under
    /proc/self/fd. So a process of another user works in a folder whose parents it may not enter.
    """

    name: str
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    cwd: str = "/"
    user: str | None = None
    folder_fd_path: str | None = None
    stop_signal: int = signal.SIGTERM
    stop_seconds: float = 3.0
    """How long it may take to end before it is killed."""
    death_signal: int = signal.SIGKILL
    max_restarts: int = 5
    """How often it may be restarted within `daemon.RESTART_WINDOW_SECONDS` before the supervisor gives up on it."""
    ends_last: bool = False
    """Whether it ends after all others, because they write to it while they end."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "ProcessSpec":
        return cls(**{**values, "argv": tuple(values["argv"])})


def die_with_parent(death_signal: int, parent: int) -> None:
    """Ask the kernel to send `death_signal` to this process when `parent` ends.

    Linux ties this to the forking thread, so processes must be started from a thread that keeps running.
    """
    _libc.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent:
        # The parent ended before the call above, so its signal will never arrive.
        os.kill(os.getpid(), signal.SIGKILL)


def start(spec: ProcessSpec, output: IO[bytes] | int) -> subprocess.Popen[bytes]:
    """Start `spec` in its own session, with stdout and stderr going to `output`."""
    parent = os.getpid()
    identity: dict[str, Any] = {}
    if spec.user is not None:
        found = pwd.getpwnam(spec.user)
        identity = {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    folder = None if spec.folder_fd_path is None else os.open(spec.folder_fd_path, os.O_RDONLY | os.O_DIRECTORY)
    argv = [part.replace("{folder}", f"/proc/self/fd/{folder}") for part in spec.argv] if folder else list(spec.argv)
    try:
        # Positional in CPython's child: the user changes first, which clears PDEATHSIG, then preexec_fn sets it.
        return subprocess.Popen(
            argv,
            cwd=spec.cwd,
            env={**spec.env, NAME_VARIABLE: spec.name},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=() if folder is None else (folder,),
            preexec_fn=lambda: die_with_parent(spec.death_signal, parent),
            **identity,
        )
    finally:
        if folder is not None:
            os.close(folder)


def base_environment() -> dict[str, str]:
    """What every process inherits: the caller's environment, with this interpreter's folder first on `PATH`."""
    scripts = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)])}
