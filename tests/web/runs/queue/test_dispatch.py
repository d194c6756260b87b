import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane
from fleet.selectors import free_lanes, grants_of
from fleet.services import release
from runs.attempts import attempts
from runs.models import Attempt, AttemptOutcome, Run, RunTransition
from runs.queue.dispatch import LanesTaken, dispatch_waiting, start_attempt
from runs.run_queue import Queue, current_queue
from runs.transitions import RunStateConflict
from runs.wait_reasons import why_waiting
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import RunState

BIG = {"lanes": {"num_rollout": 3, "num_trainer": 1, "num_reward": 1}}


@pytest.fixture
def queue(make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]) -> Callable[..., list[Run]]:
    """Queue runs, oldest first; each argument gives the sections of one spec."""

    def make(*specs: dict[str, Any]) -> list[Run]:
        start = timezone.now() - timedelta(hours=1)
        return [
            make_run(spec=make_spec(**sections), created_at=start + timedelta(seconds=index))
            for index, sections in enumerate(specs)
        ]

    return make


@pytest.mark.django_db
def test_the_oldest_runs_start_first_as_far_as_lanes_go(queue: Callable[..., list[Run]]) -> None:
    ensure_local_lanes(num_cpu_lanes=7)
    first, second, third = queue({}, {}, {})
    assert dispatch_waiting() == [first.pk, second.pk]
    assert dispatch_waiting() == []
    third.refresh_from_db()
    assert (third.state, free_lanes()) == ("queued", {"cpu": 1})


@pytest.mark.django_db
def test_priority_comes_before_age_and_a_run_that_waits_blocks_later_ones(queue: Callable[..., list[Run]]) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    low, old, young, urgent = queue({"priority": "low"}, {}, {}, {"priority": "high"} | BIG)
    assert [run.pk for run in current_queue(DEFAULT_POOL).in_turn] == [urgent.pk, old.pk, young.pk, low.pk]
    assert why_waiting([young])[young.pk].startswith("2 runs ahead; ")
    ensure_local_lanes(num_cpu_lanes=4)
    assert dispatch_waiting() == [old.pk], "the pool is too small for the urgent one, which blocks nobody"
    release(run_id=old.pk, attempt=1)
    ensure_local_lanes(num_cpu_lanes=6)
    assert dispatch_waiting() == [urgent.pk]


@pytest.mark.django_db
def test_a_started_run_has_its_lanes_an_open_attempt_and_a_launch_task(
    queue: Callable[..., list[Run]], monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[tuple[str, tuple[Any, ...]]] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args=(), **_: sent.append((name, args)))
    ensure_local_lanes(num_cpu_lanes=3)
    (run,) = queue({})
    with django_capture_on_commit_callbacks(execute=True):
        dispatch_waiting()
        assert sent == []
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("starting", 1)
    assert Lane.objects.filter(run_id=run.pk, attempt=1).count() == 3
    assert attempts.open_attempt(run.pk) is not None
    assert RunTransition.objects.get(run=run).attempt == 1
    assert sent == [("tandem.runs.launch", (str(run.pk), 1))]


@pytest.mark.django_db
def test_a_large_run_is_not_starved_by_small_ones(queue: Callable[..., list[Run]]) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    running, large, small = queue({}, BIG, {})
    assert dispatch_waiting() == [running.pk]
    assert dispatch_waiting() == [], "three lanes are free, but the large run is older than the small one"
    assert why_waiting([large])[large.pk] == "needs 5 CPU lanes, free now: 3 CPU lanes"
    assert why_waiting([small])[small.pk] == "1 run ahead; needs 3 CPU lanes, free now: 3 CPU lanes"
    Run.objects.filter(pk=running.pk).update(state="completed")
    release(run_id=running.pk, attempt=1)
    assert dispatch_waiting() == [large.pk]


@pytest.mark.django_db
def test_a_run_larger_than_the_pool_blocks_nobody_and_says_so(queue: Callable[..., list[Run]]) -> None:
    ensure_local_lanes(num_cpu_lanes=4)
    large, small = queue(BIG, {})
    assert dispatch_waiting() == [small.pk]
    assert why_waiting([large])[large.pk] == "needs 5 CPU lanes, the pool has 4 CPU lanes: it cannot start"
    assert why_waiting([small]) == {}


@pytest.mark.django_db
def test_when_lanes_are_gone_nothing_of_the_attempt_remains(queue: Callable[..., list[Run]]) -> None:
    ensure_local_lanes(num_cpu_lanes=2)
    (run,) = queue({})
    with pytest.raises(LanesTaken):
        start_attempt(run)
    run.refresh_from_db()
    assert (run.state, run.attempt) == ("queued", 0)
    assert not Attempt.objects.exists()
    assert not RunTransition.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("state", [state for state in RunState if state is not RunState.QUEUED])
def test_only_waiting_runs_are_started(live_run: Callable[..., Attempt], state: RunState) -> None:
    attempt = live_run(state)
    with pytest.raises(RunStateConflict):
        start_attempt(attempt.run)
    assert current_queue(DEFAULT_POOL) == Queue()


@pytest.mark.django_db
def test_a_run_whose_driver_was_lost_keeps_its_position_in_the_queue(
    live_run: Callable[..., Attempt], queue: Callable[..., list[Run]]
) -> None:
    (younger,) = queue(BIG)
    attempt = live_run(RunState.STARTING, created_at=timezone.now() - timedelta(days=1), resume_from="file:///c")
    attempts.close(attempt.run_id, 1, AttemptOutcome.LOST, detail="gone")
    release(run_id=attempt.run_id, attempt=1)
    assert [run.pk for run in current_queue(DEFAULT_POOL).in_turn] == [attempt.run_id, younger.pk]
    assert dispatch_waiting() == [attempt.run_id]
    resumed_attempt = Attempt.objects.get(run=attempt.run, number=2)
    assert resumed_attempt.resumed_from == "file:///c"
    assert Run.objects.get(pk=attempt.run_id).attempt == 2


@pytest.mark.django_db(transaction=True)
def test_dispatchers_at_once_start_each_run_once(queue: Callable[..., list[Run]]) -> None:
    ensure_local_lanes(num_cpu_lanes=9)
    runs = queue({}, {}, {})
    started: list[UUID] = []

    def act() -> None:
        started.extend(dispatch_waiting())
        connection.close()

    threads = [threading.Thread(target=act) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    started.extend(dispatch_waiting())
    assert sorted(started) == sorted(run.pk for run in runs)
    assert Attempt.objects.count() == 3


@pytest.mark.django_db
def test_colocated_runs_take_trainer_lanes_alone(queue: Callable[..., list[Run]]) -> None:
    ensure_local_lanes(num_cpu_lanes=5)
    colocated = {"pipeline": {"placement": "colocated"}, **BIG}
    (run,) = queue(colocated)
    assert dispatch_waiting() == [run.pk]
    assert [grant.lane for grant in grants_of(run.pk, 1)] == [
        "trainer-0",
        "trainer-1",
        "trainer-2",
        "trainer-3",
        "reward-0",
    ]
