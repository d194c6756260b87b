"""Whose silence counts, and from when on: a web that was away, and a clock that was stepped, lose no driver."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from runs.attempts.reconciler import Reconciler
from runs.attempts.watched_since import WatchedSince
from runs.cluster import JobStatus
from runs.models import Attempt, Run
from tests.web.runs.attempts.test_reconciler import age, held, silence, state_of

pytestmark = pytest.mark.django_db


def let_pass(attempt: Attempt, *, seconds: float) -> None:
    """Let all that is known of the driver be so much older."""
    span = timedelta(seconds=seconds)
    for name in ("bootstrap_used_at", "silent_from"):
        Attempt.objects.filter(pk=attempt.pk).update(**{name: F(name) - span})
    Run.objects.filter(pk=attempt.run_id).update(last_heartbeat_at=F("last_heartbeat_at") - span)


def test_a_silent_driver_is_stopped_and_keeps_its_lanes_until_it_is_gone(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run()
    silence(attempt, 13)
    cluster.stubborn = True
    reconciler.tick()
    assert state_of(attempt) == "starting"
    assert attempt.submission_id in cluster.stopped
    assert held(attempt) == 3, "it may still run on them"
    cluster.jobs[attempt.submission_id] = JobStatus.STOPPED
    reconciler.tick()
    assert held(attempt) == 0


def test_silence_is_excused_while_the_web_is_away_and_counted_anew_afterwards(
    live_run: Callable[..., Attempt], reconciler: Reconciler, web: Any
) -> None:
    attempt = live_run()
    silence(attempt, 60)
    web.up = False
    reconciler.tick()
    web.up = True
    reconciler.tick()
    assert state_of(attempt) == "running"
    age(attempt, "silent_from", seconds=13)
    reconciler.tick()
    assert state_of(attempt) == "starting"


def test_a_web_that_came_back_a_moment_ago_leaves_its_drivers_the_time_to_speak(
    live_run: Callable[..., Attempt], reconciler: Reconciler, web: Any
) -> None:
    attempt = live_run()
    silence(attempt, 8)
    web.up = False
    reconciler.tick()
    web.up = True
    let_pass(attempt, seconds=6)
    reconciler.tick()
    assert state_of(attempt) == "running"
    let_pass(attempt, seconds=7)
    reconciler.tick()
    assert state_of(attempt) == "starting"


def test_silence_before_the_reconciler_started_does_not_count(
    live_run: Callable[..., Attempt], cluster: Any, web: Any
) -> None:
    attempt = live_run()
    silence(attempt, 60)
    Reconciler(gateway=cluster, web=web, watching_since=timezone.now()).tick()
    assert state_of(attempt) == "running"


def test_silence_before_a_step_of_the_clock_does_not_count(
    live_run: Callable[..., Attempt], cluster: Any, web: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt, watched = live_run(), WatchedSince()
    monkeypatch.setattr(watched, "_since", watched.look() - timedelta(hours=2))
    silence(attempt, 3600)
    monkeypatch.setattr(watched, "_ahead", watched._ahead - 3600)
    Reconciler(gateway=cluster, web=web, watching_since=watched.look()).tick()
    assert state_of(attempt) == "running"
    silence(attempt, 13)
    monkeypatch.setattr(watched, "_since", watched.look() - timedelta(seconds=13))
    Reconciler(gateway=cluster, web=web, watching_since=watched.look()).tick()
    assert state_of(attempt) == "starting"


def test_only_heartbeats_count_while_ray_does_not_answer(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    well, silent = live_run(), live_run()
    silence(silent, 13)
    cluster.away = True
    reconciler.tick()
    assert (state_of(well), state_of(silent)) == ("running", "starting")
    assert held(silent) == 3, "nobody knows yet whether its job runs"
    cluster.away = False
    reconciler.tick()
    assert cluster.stopped == [silent.submission_id]
    reconciler.tick()
    assert held(silent) == 0
