"""The only writer of `Run.state`.

Invariant: a state changes by one conditional UPDATE that names the states it may come from; each change appends a
numbered `RunTransition`, and is published when it commits.
"""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from audit.request_context import current_request
from live.publish import publish_pool, publish_project, publish_run
from runs.models import Run, RunTransition
from runs.run_body import run_row, transition_item
from runs.run_log import log_transition
from runs.run_news import tell_of_transition
from runs.run_traces import trace_transition
from runs.stream import lock_stream, next_stream_seqs
from worker.contracts.states import END_STATES, LEGAL_MOVES, RunState, is_legal


class RunStateConflict(Exception):
    """The command is not possible in the run's state. `state` is that state, `legal` lists the legal commands."""

    def __init__(self, wanted: str, state: RunState, legal: Collection[str]) -> None:
        self.state = state
        self.legal = sorted(legal)
        choices = ", ".join(self.legal) if self.legal else "nothing: the run has ended"
        super().__init__(f"`{wanted}` is not possible while the run is {state}; possible: {choices}")


def move(
    run_id: UUID,
    old: Collection[RunState],
    new: RunState,
    *,
    reason: str,
    actor: str,
    attempt: int | None = None,
    changes: Mapping[str, Any] | None = None,
) -> RunTransition:
    """Move the run from one of the states `old` to `new`, writing the columns `changes` in the same UPDATE.

    With `attempt`, the run must still be in that attempt. Raises `RunStateConflict` when no row matched, `ValueError`
    for a move that the table does not have, `RunStream.DoesNotExist` for a deleted run.
    """
    illegal = [state for state in old if not is_legal(state, new)]
    if illegal:
        raise ValueError(f"illegal transition {illegal[0]} -> {new}: `worker.contracts.states` has no such move")
    now = timezone.now()
    with transaction.atomic():
        lock_stream(run_id)
        current = Run.objects.only("state", "state_changed_at").get(pk=run_id)
        rows = Run.objects.filter(pk=run_id, state=current.state, state__in=list(old))
        if attempt is not None:
            rows = rows.filter(attempt=attempt)
        if not rows.update(**_stamps(new, now), **(changes or {})):
            raise RunStateConflict(new, current.run_state, LEGAL_MOVES[current.run_state])
        changed = Run.objects.select_related("project").defer("spec", "prompts", "algebra").get(pk=run_id)
        transition = append_transition(changed, old=current.state, reason=reason, actor=actor)
        trace_transition(changed, old=current.state, since=current.state_changed_at)
    return transition


def append_transition(run: Run, *, old: str, reason: str, actor: str) -> RunTransition:
    """Record and publish the run's current state as a transition from `old`, inside the transaction that changed it."""
    request = current_request()
    transition = RunTransition.objects.create(
        run=run,
        stream_seq=next_stream_seqs(run.pk, 1)[0],
        old=old,
        new=run.state,
        reason=reason,
        actor=actor,
        request_id=request.request_id,
        token_key=request.token_key,
        attempt=run.attempt,
        at=run.state_changed_at,
    )
    log_transition(transition)
    tell_of_transition(run, transition)
    publish_run(run.pk, [transition_item(transition)])
    publish_project(run.project_id, run_row(run))
    publish_pool(queue=True)
    return transition


def _stamps(new: RunState, now: Any) -> dict[str, Any]:
    stamps: dict[str, Any] = {"state": new.value, "state_changed_at": now}
    if new is RunState.RUNNING:
        stamps["started_at"] = Coalesce("started_at", now)
    stamps["ended_at"] = now if new in END_STATES else None
    return stamps
