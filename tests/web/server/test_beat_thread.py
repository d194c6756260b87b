"""A real worker with its beat on a thread does periodic tasks, and ends with its beat when told to."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings

from server.environment import ROOT
from tests.web.server.test_supervisor import until

APP = "tests.web.server.ticking_app:app"


@pytest.fixture
def worker(embedded_servers: None, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A worker of the ticking app; if a failed test leaves it, it is killed at the end."""
    argv = (sys.executable, "-m", "celery", "--app", APP, "worker", "--pool", "threads", "--concurrency", "1")
    process = subprocess.Popen(
        [*argv, "--without-gossip", "--without-mingle", "--beat-thread", "--schedule", str(tmp_path / "schedule")],
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
            "CELERY_BROKER_URL": settings.CELERY_BROKER_URL,
            "TICKS": str(tmp_path / "ticks"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    yield process
    with suppress(ProcessLookupError):
        process.kill()
    process.communicate()


def test_a_worker_with_a_beat_thread_does_periodic_tasks_and_ends_with_it(
    worker: subprocess.Popen[str], tmp_path: Path
) -> None:
    ticks = tmp_path / "ticks"
    until(lambda: ticks.exists() and len(ticks.read_text().split()) >= 3, "three periodic tasks are done")
    worker.send_signal(signal.SIGTERM)
    output, _ = worker.communicate(timeout=30)
    assert worker.returncode == 0, output
