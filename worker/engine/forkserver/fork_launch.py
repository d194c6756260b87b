"""`python -P -m worker.engine.forkserver.fork_launch PROGRAM ARGUMENTS`: runs a program in a fork of the server.

What Ray starts in place of its worker's interpreter (`py_executable`). It ends as soon as the fork has begun: Ray knows
its workers by the connection that they open. Imports nothing large, because the raylet waits for it.
"""

import os
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from worker.engine.forkserver.address import server_address
from worker.engine.forkserver.request import ForkRequest
from worker.engine.forkserver.server_start import start_server

CONNECT_SECONDS = 5.0
"""How long a server that was just started may take to listen, which it does before it imports: 50 ms when idle."""
FORK_SECONDS = 40.0
"""How long it may take to import, 4 s when idle, and to fork. Ray gives up a worker that is not there after 60 s."""
RETRY_SECONDS = 0.02


def connect(address: Path) -> socket.socket:
    """A connection to the server at `address`, which is started if it does not run.

    Raises:
        OSError: when none listens within `CONNECT_SECONDS`.
    """
    deadline = time.monotonic() + CONNECT_SECONDS
    is_started = False
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(address))
            return connection
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            if time.monotonic() > deadline:
                raise
            if not is_started:
                start_server()
                is_started = True
            time.sleep(RETRY_SECONDS)


def is_forked(arguments: Sequence[str]) -> bool:
    """Have the server run `arguments`, a program's path and its arguments; False where it could not."""
    try:
        with connect(server_address()) as connection:
            connection.settimeout(FORK_SECONDS)
            ForkRequest.of_this_process(arguments).send(connection)
            return bool(connection.recv(1))
    except OSError as error:
        print(f"no process could be forked, this one imports its libraries itself: {error}", file=sys.stderr)
        return False


if __name__ == "__main__":
    if not is_forked(sys.argv[1:]):
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
