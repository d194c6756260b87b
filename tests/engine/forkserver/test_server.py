"""What lanes are forked from, with programs that tell what they see in place of a Ray worker."""

import fcntl
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.forkserver.forking import SECONDS, Server, is_there, until, written

TELL = """
import json, os, sys
print(json.dumps({
    "arguments": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd(),
    "is_imported": "colorsys" in sys.modules, "name": __name__, "process": os.getpid(),
}))
"""
WAIT = "print('1', flush=True); import time; time.sleep(1)"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.end()


def test_a_fork_has_what_the_server_imported_and_sees_its_requests_world_alone(server: Server) -> None:
    seen = written(server.run(TELL, "--size", "3", NAME="lane"))
    assert seen.pop("process") != server.process.pid
    assert seen == {
        "arguments": ["--size", "3"],
        "environment": {"NAME": "lane"},
        "folder": str(server.folder),
        "is_imported": True,
        "name": "__main__",
    }


def test_an_error_of_a_program_is_in_its_own_output(server: Server) -> None:
    output = server.run("raise ValueError('no such lane')")
    until(lambda: "ValueError: no such lane" in output.read_text())


def test_a_fork_that_ended_leaves_no_process(server: Server) -> None:
    process = written(server.run(TELL))["process"]
    until(lambda: not is_there(process))


def test_a_server_stays_as_long_as_a_fork_and_ends_when_it_was_idle(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start(idle_seconds=0.2)
    written(server.run(WAIT))
    time.sleep(0.6)
    assert server.process.poll() is None
    assert server.process.wait(SECONDS) == 0


def test_a_server_ends_with_the_raylet_of_its_last_fork(server: Server) -> None:
    raylet = subprocess.Popen(["sleep", str(SECONDS)])
    server.run(WAIT, RAY_RAYLET_PID=str(raylet.pid))
    raylet.kill()
    raylet.wait()
    assert server.process.wait(SECONDS) == 0


def test_a_fork_does_not_hold_the_lock_of_a_server_that_is_gone(server: Server) -> None:
    written(server.run(WAIT))
    server.end()
    with server.lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_program_that_nobody_waits_for_any_more_is_not_run(server: Server) -> None:
    """Whoever asked has become the program itself by then."""
    server.process.send_signal(signal.SIGSTOP)
    with socket.socket(socket.AF_UNIX) as connection:
        given_up = server.send(connection, TELL)
    server.process.send_signal(signal.SIGCONT)
    written(server.run(TELL))
    assert given_up.read_text() == ""


def test_a_request_that_breaks_off_leaves_the_server_well(server: Server) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(server.address))
        connection.sendall(b'{"arguments"')
    assert written(server.run(TELL))["is_imported"]
