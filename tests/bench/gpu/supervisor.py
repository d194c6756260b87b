"""Runs the stages in a process of their own, and goes on in a fresh one where that process ends or hangs.

    supervisor ─ starts ─► process ─ stages, rows ─► report on disk
        ▲                                               │ polled: which stage is running, since when
        └── a stage over its limit, or a dead process: recorded, then the next stages in a fresh process

A kernel that faults takes the device's whole context with it, so an exception handler is not enough. Invariant: the
supervisor never uses the device, and writes to the report only while no stage process lives.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.gpu.bench_report import BenchReport
from tests.bench.gpu.stage_budgets import BUDGETS

ROOT = Path(__file__).resolve().parents[3]
STAGE_PROCESS = "tests.bench.gpu.stage_process"
GRACE_SECONDS = 45.0
"""How long the case that is open when a stage's budget ends may take: the compilation of one model's blocks."""
START_SECONDS = 150.0
"""How long a process may take to import its libraries and to join its group: 20 s of one core, for which a bare machine
of two cores took 127 to 150 s the first time, beside other work (load 22 to 29)."""
POLL_SECONDS = 0.5
STOP_SECONDS = 5.0
"""How long a process may take to end before it is killed."""


def supervise(path: Path, stages: Sequence[str], *, minutes: float, module: str = STAGE_PROCESS) -> None:
    """Run `stages` by `module` into the report at `path`, which must be absent, for at most `minutes`."""
    ends_at = time.monotonic() + 60 * minutes
    waiting = list(stages)
    while waiting:
        left = ends_at - time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", module, str(path), f"{left:.1f}", *waiting],
            cwd=ROOT,
            # Nothing is looked up on the hub, which a bare machine does not reach.
            env=os.environ | {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"},
            # A group of its own, so that compilers and ranks that it started end with it.
            start_new_session=True,
        )
        why = _watch(process, path, ends_at)
        waiting = _after(path, waiting, why)


def _watch(process: subprocess.Popen[bytes], path: Path, ends_at: float) -> str | None:
    """Wait for the process; why it ended before its stages did, or `None`."""
    running, since = None, time.monotonic()
    while process.poll() is None:
        time.sleep(POLL_SECONDS)
        found = BenchReport.read(path).running if path.exists() else None
        if found != running:
            running, since = found, time.monotonic()
        _, budget = BUDGETS.get(running or "", ("", START_SECONDS))
        limit = budget + GRACE_SECONDS
        if time.monotonic() > min(since + limit, ends_at + GRACE_SECONDS):
            _stop(process)
            return f"ended after {time.monotonic() - since:.0f} s: a case did not return"
    return None if process.returncode in (0, 1) else f"its process ended with {process.returncode}"


def _after(path: Path, waiting: list[str], why: str | None) -> list[str]:
    """The stages that are still to run. Raises `RuntimeError` where the process failed before its first stage."""
    if not path.exists():
        raise RuntimeError(f"the stages did not start: {why or 'see the error above'}")
    report = BenchReport.read(path)
    if (running := report.running) is not None:
        report.end(running, "killed", 0.0, why=why or "its process ended without a word")
    left = [name for name in waiting if name not in report.stages]
    if left == waiting:
        raise RuntimeError(f"{left[0]} did not start: {why or 'see the error above'}")
    return left


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it started."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sent)
            process.wait(STOP_SECONDS)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
