"""What of a run's life goes to its trace: its time in the queue, its attempts, and itself, each when it has ended."""

from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs.models import Attempt, AttemptOutcome, Run
from traces.run_trace import Place, RunTrace
from worker.contracts.ingest import TRACEPARENT_VARIABLE
from worker.contracts.states import END_STATES, RunState

MAX_KNOWN = 1024
"""Runs whose context is kept in memory, 300 bytes each; more than drivers report at once to one process."""


@lru_cache(MAX_KNOWN)
def trace_of(run_id: UUID) -> RunTrace:
    """The run's trace; its context never changes."""
    return RunTrace(run_id, Run.objects.values_list("traceparent", flat=True).get(pk=run_id))


def attempt_place(number: int) -> Place:
    return ("attempt", number)


def trace_transition(run: Run, *, old: str, since: datetime) -> None:
    """After commit, tell of the queue that the run has left and of the run that has ended.

    Args:
        run: as it is now.
        since: when it came to its old state.
    """
    if not settings.TANDEM_TRACES:
        return
    now = run.state_changed_at.timestamp()
    trace = RunTrace(run.pk, run.traceparent)
    if old == RunState.QUEUED:
        place: Place = ("queue", since.timestamp())
        waited = {"tandem.pool": run.pool, "tandem.run.left_queue_as": run.state}
        transaction.on_commit(lambda: trace.add("queue", place, (), since.timestamp(), now, waited), robust=True)
    if run.run_state in END_STATES:
        about: dict[str, Any] = {
            "tandem.run.name": run.name,
            "tandem.run.state": run.state,
            "tandem.project.name": run.project.name,
            "tandem.run.num_batches": run.num_batches_done,
        }
        failure = str((run.failure or {}).get("reason", "")) if run.run_state is RunState.FAILED else ""
        created = run.created_at.timestamp()
        transaction.on_commit(lambda: trace.add("run", (), None, created, now, about, failure=failure), robust=True)


def trace_attempt(run_id: UUID, number: int, outcome: AttemptOutcome, detail: str) -> None:
    """After commit, tell of an attempt that was closed."""
    if not settings.TANDEM_TRACES:
        return
    began = Attempt.objects.values_list("created_at", flat=True).get(run_id=run_id, number=number).timestamp()
    about = {"tandem.attempt": number, "tandem.attempt.outcome": outcome.value}
    failure = detail if outcome is AttemptOutcome.LOST else ""
    now = timezone.now().timestamp()
    trace, place = trace_of(run_id), attempt_place(number)
    transaction.on_commit(
        lambda: trace.add(f"attempt {number}", place, (), began, now, about, failure=failure), robust=True
    )


def trace_launch(run_id: UUID, number: int, began: datetime, failure: str = "") -> None:
    """Tell of the submission of an attempt's job."""
    if settings.TANDEM_TRACES:
        place = (*attempt_place(number), "launch", began.timestamp())
        about = {"tandem.attempt": number}
        now = timezone.now().timestamp()
        trace = trace_of(run_id)
        trace.add("launch", place, attempt_place(number), began.timestamp(), now, about, failure=failure)


def trace_environment(run_id: UUID, number: int) -> dict[str, str]:
    """What tells a job which span it belongs to."""
    if not settings.TANDEM_TRACES:
        return {}
    return {TRACEPARENT_VARIABLE: trace_of(run_id).traceparent_of(attempt_place(number))}
