"""`python -P -m worker.engine.forkserver.server`: imports the libraries of lanes, and forks a process for each request.

```text
lock, socket ─► imports ─► request ─► fork ─► environment, folder and streams of the request ─► the program
                             ▲          └─► one byte: it has begun
                             └── next, until idle for IDLE_SECONDS
```

Invariants: the process has one thread, no accelerator and no torch computation before a fork, so a fork is as good as
new. A program sees the environment of its request alone.
"""

import fcntl
import gc
import os
import runpy
import selectors
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, NoReturn

from worker.contracts.lanes import CPU_DEVICE
from worker.engine.devices.visibility import see_only
from worker.engine.forkserver.address import server_address
from worker.engine.forkserver.request import STANDARD_STREAMS, ForkRequest, receive

IDLE_SECONDS = 120.0
"""How long a server without forks waits for the next: an attempt that follows a lost driver comes within a minute."""
MAX_WAITING = 64
"""Connections that may wait while the libraries are imported: more than the CPU lanes of a node."""
RAYLET_VARIABLE = "RAY_RAYLET_PID"
"""By which Ray tells a worker the process that it belongs to, and ends with."""


def import_libraries() -> None:
    """Import what rollout and trainer lanes do, as they do."""
    see_only(CPU_DEVICE)
    gc.disable()
    from worker.engine.unwanted_imports import without_unwanted_imports

    with without_unwanted_imports():
        import worker.engine.models.prompt_encoding
        import worker.engine.rollout.sampler
        import worker.engine.sync.host_staging
        import worker.engine.trainer.rank  # noqa: F401
    gc.collect()
    # What every fork has in common is left out of its collections, which would write to all of it.
    gc.freeze()


class ForkServer:
    """Answers requests on a listening socket until it is idle, or the cluster it belongs to has ended."""

    def __init__(self, listening: socket.socket, run: Callable[[ForkRequest], NoReturn], *own: IO[str]) -> None:
        """
        Args:
            listening: where requests come in.
            run: what a fork does.
            own: further files of the server that forks close: a lock is held as long as anyone has it open.
        """
        self._listening = listening
        self._run = run
        self._own = own
        self._forks: dict[int, int] = {}
        """The process of each fork by the descriptor that tells of its end."""
        self._raylets: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._selector.register(listening, selectors.EVENT_READ)

    def serve(self, idle_seconds: float) -> None:
        """Answer until there was no fork and no request for `idle_seconds`, or no raylet that asked is left."""
        while True:
            ready = [key.fd for key, _ in self._selector.select(idle_seconds)]
            for descriptor in ready:
                if descriptor in self._forks:
                    self._reap(descriptor)
                else:
                    self._answer()
            if not self._forks and (not ready or (self._raylets and not any(map(is_running, self._raylets)))):
                return

    def _answer(self) -> None:
        connection, _ = self._listening.accept()
        with connection:
            try:
                request, streams = receive(connection)
            except ConnectionError:
                return
            self._raylets.add(int(request.environment.get(RAYLET_VARIABLE, os.getpid())))
            process = os.fork()
            if not process:
                self._begin_fork(request, streams, connection)
            for stream in streams:
                os.close(stream)
            descriptor = os.pidfd_open(process)
            self._forks[descriptor] = process
            self._selector.register(descriptor, selectors.EVENT_READ)

    def _begin_fork(self, request: ForkRequest, streams: list[int], connection: socket.socket) -> NoReturn:
        try:
            self._listening.close()
            self._selector.close()
            for file in self._own:
                file.close()
            become(request, streams)
            # Whoever no longer waits for this has become the program itself, which must not run twice.
            connection.sendall(b"1")
            connection.close()
        except BaseException:
            os._exit(1)
        self._run(request)

    def _reap(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        os.waitpid(self._forks.pop(descriptor), 0)
        os.close(descriptor)


def is_running(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def become(request: ForkRequest, streams: list[int]) -> None:
    """Make this process what the request's would have been."""
    os.setsid()
    for stream, number in zip(streams, STANDARD_STREAMS, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    sys.argv = list(request.arguments)
    gc.enable()


def run_program(request: ForkRequest) -> NoReturn:
    """Run the program of a request to its end, as the interpreter would."""
    status = 1
    try:
        runpy.run_path(request.arguments[0], run_name="__main__")
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    sys.stdout.flush()
    sys.stderr.flush()
    # The interpreter's own end would close what belongs to the server.
    os._exit(status)


def main() -> None:
    """Listen, import, answer. Ends at once where another server has the address."""
    address = server_address()
    with address.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        address.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(address))
            listening.listen(MAX_WAITING)
            import_libraries()
            ForkServer(listening, run_program, lock).serve(IDLE_SECONDS)
            address.unlink()


if __name__ == "__main__":
    main()
