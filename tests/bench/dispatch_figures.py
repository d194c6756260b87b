"""What it costs to give lanes away: the allocation transaction and rounds of dispatch with a long queue, and the time
from a lane freed to a lane given through a real Celery worker. Django must be set up before this is imported.

The pool is that of `tests.bench.seeded_pool`, two thirds of it held. The queue is of several projects with shares of
their own; every second run leaves placement to the planner, whose plans are at hand after the first round.
"""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.models import Project, User
from accounts.services import create_project
from fleet.models import LaneUse, Pool
from fleet.services import release
from fleet.shares.shares import set_share
from runs.attempts import attempts
from runs.models import Attempt, AttemptOutcome, Run, RunStream
from runs.queue.dispatch import begin, choose_lanes_for, dispatch_waiting
from runs.run_queue import current_queue
from runs.services import create_run
from server.embedded.waiting import wait_until
from server.stack.processes import task_worker_process
from tests.bench.percentiles import p95
from tests.bench.seeded_pool import LANES_OF_A_RUN
from worker.contracts.lanes import DEFAULT_POOL

NUM_QUEUED = 1000
NUM_PROJECTS = 5
NUM_WARM_UP = 5
"""Rounds of the worker before those that count: it imports Ray's client with its first launches."""
GIVE_SECONDS = 30.0
POLL_SECONDS = 0.005
Figures = dict[str, float | int]


def dispatch_figures(var: Path, num_rounds: int) -> dict[str, Figures]:
    queue_runs()
    started = dispatch_waiting()
    figures = {
        "dispatch: the queue of 1,000 runs": _timed(lambda: None, lambda: current_queue(DEFAULT_POOL), num_rounds),
        **_allocations(started, num_rounds),
        "dispatch: a round that starts one run": _timed(lambda: _free(started), lambda: _round(started), num_rounds),
        "dispatch: a round that finds no lanes": _timed(lambda: None, dispatch_waiting, num_rounds),
        "dispatch: a round that starts many runs": _round_of_many(started),
    }
    with task_worker(var):
        figures["dispatch: from freed to given"] = _freed_to_given(started, num_rounds)
    return figures


def queue_runs() -> None:
    """Queue runs that want a few lanes each."""
    # Those that hold the pool's lanes work, and do not wait.
    Run.objects.update(state="running")
    admin = User.objects.get(username="admin")
    projects = [create_project(user=admin, name=f"Queue {number}") for number in range(NUM_PROJECTS)]
    pool = Pool.objects.get(name=DEFAULT_POOL)
    for number, project in enumerate(projects):
        set_share(user=admin, pool=pool, project=project, guaranteed=16 * number, weight=1.0 + number)
    for number in range(NUM_QUEUED):
        _queue(projects[number % NUM_PROJECTS], admin, number)


_templates: dict[str, Run] = {}


def _queue(project: Project, owner: User, number: int) -> None:
    """A run as `create_run` makes it; those after the first of a kind are copies of its row, which is faster."""
    placement = "auto" if number % 2 else "disaggregated"
    if placement not in _templates:
        document: dict[str, Any] = {
            "prompts": {"inline": ["a red square", "a blue circle"]},
            "rewards": [{"name": "shape_match"}],
            "batch": {"num_prompts_per_batch": 2, "group_size": 8},
            "lanes": {"num_rollout": LANES_OF_A_RUN - 2, "num_trainer": 2, "num_reward": 1},
            "pipeline": {"placement": placement},
            "num_batches": 2,
        }
        _templates[placement] = create_run(user=owner, project=project, name=f"queued {number}", spec=document)
        return
    template = _templates[placement]
    fields = {
        field.attname: getattr(template, field.attname)
        for field in Run._meta.concrete_fields
        if not field.primary_key and not field.generated
    }
    fields |= {"project_id": project.pk, "name": f"queued {number}", "created_at": timezone.now()}
    RunStream.objects.create(run=Run.objects.create(**fields))


def _timed(before: Callable[[], Any], act: Callable[[], Any], num_rounds: int) -> Figures:
    """Milliseconds of `act`, each time after `before`, and its statements."""
    taken, statements = [], 0
    for _ in range(num_rounds):
        before()
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1000)
    before()
    connection.force_debug_cursor = True
    connection.queries_log.clear()
    try:
        act()
        statements = len(connection.queries_log)
    finally:
        connection.force_debug_cursor = False
    return {**_spread(taken), "statements": statements}


def _spread(taken: list[float]) -> Figures:
    return {"ms": sorted(taken)[len(taken) // 2], "p95_ms": p95(taken)}


def _allocations(started: list[UUID], num_rounds: int) -> dict[str, Figures]:
    """The choice of lanes for the queue's head, the plan at hand, and the transaction that grants them."""
    choices, transactions = list[float](), list[float]()
    for _ in range(num_rounds):
        _free(started)
        run = current_queue(DEFAULT_POOL).in_turn[0]
        began = time.perf_counter()
        placement, lanes = choose_lanes_for(run)
        chosen = time.perf_counter()
        begin(run.pk, placement, lanes)
        transactions.append((time.perf_counter() - chosen) * 1000)
        choices.append((chosen - began) * 1000)
        started.append(run.pk)
    return {
        "dispatch: lanes chosen, plan at hand": _spread(choices),
        "dispatch: the allocation transaction": _spread(transactions),
    }


def _round(started: list[UUID]) -> None:
    started.extend(dispatch_waiting())


def _free(started: list[UUID]) -> None:
    """End the oldest run that was started, so that its lanes are free, and queue another in its place."""
    run = Run.objects.get(pk=started.pop(0))
    attempts.close(run.pk, run.attempt, AttemptOutcome.CLOSED, detail="over")
    Run.objects.filter(pk=run.pk).update(state="completed", ended_at=timezone.now())
    _queue(run.project, User.objects.get(username="admin"), 2 if run.spec["pipeline"]["placement"] != "auto" else 3)
    release(run_id=run.pk, attempt=run.attempt)


def _round_of_many(started: list[UUID]) -> Figures:
    number = len(started)
    for _ in range(number):
        _free(started)
    began = time.perf_counter()
    _round(started)
    taken = (time.perf_counter() - began) * 1000
    return {"num_started": len(started), "ms": taken, "ms_each": taken / max(1, len(started))}


def _drivers_post() -> None:
    """As drivers of all runs with lanes do every few seconds: without, the worker is busy with runs that it lost."""
    now = timezone.now()
    Attempt.objects.filter(ended_at=None).update(submitted_at=now, bootstrap_used_at=now)
    Run.objects.filter(attempts__ended_at=None, attempts__isnull=False).update(last_heartbeat_at=now)


@contextmanager
def task_worker(var: Path) -> Iterator[None]:
    """The stack's own Celery worker with its beat."""
    spec = task_worker_process({"TANDEM_VAR": str(var)}, str(var / "beat"))
    log = var / "worker.log"
    with log.open("wb") as out:
        process = subprocess.Popen(spec.argv, env=spec.env, cwd=spec.cwd, stdout=out, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: b"ready." in log.read_bytes(), what="the worker", timeout_seconds=60, failure=lambda: None)
        yield
    finally:
        process.terminate()
        process.wait(60)


def _freed_to_given(started: list[UUID], num_rounds: int) -> Figures:
    """From the commit that frees the lanes of a run to the commit that gives some of them to the next."""
    waits = []
    for number in range(NUM_WARM_UP + num_rounds):
        # At another moment of the beat's round each time.
        time.sleep(1 + 0.37 * (number % 5))
        _drivers_post()
        last = LaneUse.objects.order_by("-pk").values_list("pk", flat=True)[0]
        given = LaneUse.objects.filter(pk__gt=last).values_list("run_id", flat=True)
        _free(started)
        began = time.perf_counter()
        while (run_id := given.first()) is None:
            if time.perf_counter() - began > GIVE_SECONDS:
                raise TimeoutError(f"no lane was given within {GIVE_SECONDS} s")
            time.sleep(POLL_SECONDS)
        waits.append((time.perf_counter() - began) * 1000)
        started.append(run_id)
    return {**_spread(waits[NUM_WARM_UP:]), "max_ms": max(waits[NUM_WARM_UP:])}
