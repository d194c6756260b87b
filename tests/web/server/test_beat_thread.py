"""A real worker with its beat on a thread does periodic tasks, and ends with its beat when told to."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.conf import settings

from server.beat_thread import SteadyScheduler
from server.environment import ROOT
from tests.web.server.test_supervisor import until

APP = "tests.web.server.ticking_app:app"


class Noting(SteadyScheduler):
    """Notes the tasks that are due, and sends none."""

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        self.app.noted.append(entry.name)


def test_rounds_go_on_when_the_clock_is_set_back(tmp_path: Path) -> None:
    app, now = Celery("noting", broker="memory://"), [datetime(2026, 11, 24, 12, tzinfo=UTC)]
    app.now, app.noted = lambda: now[0], []
    every = {"task": "t", "schedule": timedelta(seconds=5)}
    app.conf.beat_schedule = {"one": dict(every), "other": dict(every)}
    scheduler = Noting(app, schedule_filename=str(tmp_path / "schedule"), lazy=True)
    scheduler.setup_schedule()

    def rounds() -> list[str]:
        app.noted.clear()
        for _ in range(12):
            now[0] += timedelta(seconds=1)
            while scheduler.tick() == 0:
                pass
        return sorted(app.noted)

    rounds()
    assert rounds() == ["one"] * 2 + ["other"] * 2
    now[0] -= timedelta(hours=1)
    rounds()
    assert rounds() == ["one"] * 2 + ["other"] * 2
    scheduler.close()


def test_the_beat_sleeps_until_a_round_is_due(tmp_path: Path) -> None:
    app, now = Celery("noting", broker="memory://"), [datetime(2026, 11, 24, 12, tzinfo=UTC)]
    app.now, app.noted = lambda: now[0], []
    app.conf.beat_schedule = {
        "one": {"task": "t", "schedule": timedelta(seconds=2)},
        "other": {"task": "t", "schedule": timedelta(seconds=3)},
    }
    scheduler = Noting(app, schedule_filename=str(tmp_path / "schedule"), lazy=True)
    scheduler.setup_schedule()
    for _ in range(16):
        now[0] += timedelta(seconds=scheduler.tick())
    # After 2, 3, 4, 6, 8, 9 and 10 seconds; eight waits and as many rounds.
    assert sorted(app.noted) == ["one"] * 5 + ["other"] * 3
    scheduler.close()


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
