"""Runs that start ahead of others, in dispatch: only where the forecast says that nobody is delayed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from fleet.lane_layout import ensure_local_lanes
from runs.forecast.paces import likeness_of
from runs.models import Attempt, Run, RunPace, RunTransition
from runs.queue.dispatch import dispatch_waiting
from runs.queue.queue_forecast import forecast
from runs.run_queue import current_queue
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
Start = Callable[..., Run]
BIG = {"num_rollout": 4, "num_trainer": 2}


@pytest.fixture
def waiting(make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]) -> Callable[..., Run]:
    """A run that waits, younger than those before it, of `num_batches`."""
    age = iter(range(3600, 0, -1))

    def make(num_batches: int = 2, **lanes: Any) -> Run:
        spec = make_spec(num_batches=num_batches, lanes=lanes)
        return make_run(spec=spec, created_at=timezone.now() - timedelta(seconds=next(age)))

    return make


def measured(run: Run, batch_seconds: float, *, version: int = 3, attempt: int = 1) -> None:
    """As if the run had measured 3 batches, and had taken 10 s to start."""
    now = timezone.now().timestamp()
    values = {
        "attempt": attempt,
        "likeness": likeness_of(run),
        "version": version,
        "published_at": now,
        "start_seconds": 10.0,
        "batch_seconds": [batch_seconds] * 3,
    }
    RunPace.objects.update_or_create(run=run, defaults=values)


@pytest.fixture
def holder(waiting: Callable[..., Run]) -> Run:
    """A run that holds 4 of 8 lanes, with 97 batches of 10 s left."""
    ensure_local_lanes(num_cpu_lanes=8)
    run = waiting(100, num_rollout=2)
    assert dispatch_waiting() == [run.pk]
    Run.objects.filter(pk=run.pk).update(state="running")
    measured(run, 10.0)
    return run


def since(run: Run) -> float:
    """Seconds since `measured`, which a forecast of now counts as work done."""
    return timezone.now().timestamp() - RunPace.objects.get(run=run).published_at


def test_a_short_run_starts_ahead_of_one_that_waits_for_more_and_a_long_one_does_not(
    holder: Run, waiting: Callable[..., Run]
) -> None:
    head = waiting(5, **BIG)
    long, short = waiting(200), waiting(10)
    measured(long, 10.0)
    assert dispatch_waiting() == [short.pk]
    attempt = Attempt.objects.get(run=short)
    assert attempt.num_overtaken == 2
    reason = RunTransition.objects.get(run=short).reason
    assert reason == "lanes are free: attempt 1, started ahead of 2 runs: none is delayed"
    found = forecast(current_queue(DEFAULT_POOL), DEFAULT_POOL)
    assert found.starts[head.pk].likely == pytest.approx(970 - since(holder), abs=2)


def test_nobody_starts_ahead_while_it_is_unknown_how_long_it_takes(holder: Run, waiting: Callable[..., Run]) -> None:
    waiting(5, **BIG)
    waiting(1, num_rollout=1, num_reward=2)
    assert dispatch_waiting() == []


def test_lanes_that_the_head_does_not_need_are_given_for_any_time(holder: Run, waiting: Callable[..., Run]) -> None:
    head = waiting(5, num_rollout=2, num_trainer=2)
    unknown = waiting(10**6)
    assert dispatch_waiting() == [unknown.pk], "of 8 lanes the head needs 5"
    found = forecast(current_queue(DEFAULT_POOL), DEFAULT_POOL)
    assert found.starts[head.pk].likely == pytest.approx(970 - since(holder), abs=2)


def test_a_run_behind_two_delays_neither(holder: Run, waiting: Callable[..., Run]) -> None:
    """The second needs the lanes that the first leaves."""
    waiting(5, num_rollout=2, num_trainer=2)
    waiting(5, num_trainer=2)
    waiting(10**6)
    assert dispatch_waiting() == []


def test_starts_are_unknown_where_ends_are(waiting: Callable[..., Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=4)
    first = waiting()
    assert dispatch_waiting() == [first.pk]
    second = waiting()
    assert forecast(current_queue(DEFAULT_POOL), DEFAULT_POOL).starts == {}
    assert second.pk in forecast(current_queue(DEFAULT_POOL), DEFAULT_POOL).durations
