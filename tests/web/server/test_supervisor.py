"""Nothing of the stack outlives it, however it ends; what dies is restarted, a bounded number of times."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from server.environment import ROOT

SCRIPT = Path(__file__).with_name("stack_process.py")
GONE_WITHIN_SECONDS = 10.0

Launch = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """Start the small stack; whatever a failed test leaves of it is killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(*flags: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(tmp_path), *flags],
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'platform'}:{ROOT}"},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
    for pid in stack_pids(tmp_path) if (tmp_path / "pids").exists() else []:
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGKILL)


def stack_pids(folder: Path) -> list[int]:
    """Every process of the stack: the supervisor, two kept processes and one that detached itself."""
    until(lambda: (folder / "pids").exists(), "the small stack starts")
    pids = [int(pid) for pid in (folder / "pids").read_text().split()]
    assert len(pids) == 4
    return pids


def until(condition: Callable[[], bool], what: str, timeout_seconds: float = 30.0) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout_seconds} s: {what}"
        time.sleep(0.02)


def all_gone(pids: list[int]) -> bool:
    return not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids)


def kill_9(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def test_kill_9_of_up_ends_every_process(launch: Launch, tmp_path: Path) -> None:
    up = launch()
    pids = stack_pids(tmp_path)
    kill_9(up.pid)
    until(lambda: all_gone(pids), "every process is gone", GONE_WITHIN_SECONDS)


def test_kill_9_of_make_ends_up_and_every_process(launch: Launch, tmp_path: Path) -> None:
    make = launch("--under-make")
    pids = [*stack_pids(tmp_path), *(child.pid for child in psutil.Process(make.pid).children())]
    kill_9(make.pid)
    until(lambda: all_gone(pids), "every process is gone", GONE_WITHIN_SECONDS)


def test_kill_9_of_the_supervisor_ends_the_stack_with_a_plain_message(launch: Launch, tmp_path: Path) -> None:
    up = launch()
    pids = stack_pids(tmp_path)
    [supervisor] = psutil.Process(up.pid).children()
    kill_9(supervisor.pid)
    output, _ = up.communicate(timeout=GONE_WITHIN_SECONDS)
    assert "The supervisor of the stack's processes is gone" in output
    assert up.returncode == 3
    assert all_gone(pids)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_ends_everything_in_order(launch: Launch, tmp_path: Path, number: signal.Signals) -> None:
    up = launch()
    pids = stack_pids(tmp_path)
    up.send_signal(number)
    output, _ = up.communicate(timeout=GONE_WITHIN_SECONDS)
    assert (up.returncode, output) == (0, f"stopped by {number.name}\n")
    assert all_gone(pids)


def test_a_process_that_dies_is_restarted_and_one_that_keeps_dying_ends_the_stack(
    launch: Launch, tmp_path: Path
) -> None:
    up = launch()
    stack_pids(tmp_path)
    [supervisor] = psutil.Process(up.pid).children()

    def kill_polite() -> None:
        with suppress(psutil.NoSuchProcess):
            for child in supervisor.children():
                if child.name() == "sleep":
                    child.kill()

    until(lambda: (tmp_path / "restarts").exists(), "the stack serves")
    kill_polite()
    until(lambda: "'polite': 1" in (tmp_path / "restarts").read_text(), "the restart is counted")
    while up.poll() is None:
        kill_polite()
        time.sleep(0.1)
    output, _ = up.communicate()
    assert up.returncode == 3
    assert "polite ended 3 times, the last ones within 10 minutes and with code -9" in output


def test_a_restart_ends_what_its_process_left_behind_and_nothing_of_others(launch: Launch, tmp_path: Path) -> None:
    up = launch()
    pids = stack_pids(tmp_path)
    [supervisor] = psutil.Process(up.pid).children()
    [polite] = [pid for pid in pids if psutil.Process(pid).name() == "sleep"]
    [stubborn] = [pid for pid in pids if os.getsid(pid) == pid and pid not in (polite, supervisor.pid)]
    [detached] = set(pids) - {polite, stubborn, supervisor.pid}
    until(lambda: (tmp_path / "restarts").exists(), "the stack serves")

    kill_9(polite)
    until(lambda: "'polite': 1" in (tmp_path / "restarts").read_text(), "it is restarted")
    assert not all_gone([detached])

    kill_9(stubborn)
    until(lambda: "'stubborn': 1" in (tmp_path / "restarts").read_text(), "it is restarted")
    until(lambda: all_gone([detached]), "what it left behind is gone")
