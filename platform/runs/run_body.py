"""A run as plain JSON: the one body that REST, the websocket's snapshot and the runs list all send."""

from datetime import datetime
from typing import Any

from runs.legal_actions import legal_actions
from runs.models import Run, RunTransition


def run_row(run: Run) -> dict[str, Any]:
    """A line of the runs list."""
    return {
        "id": str(run.pk),
        "project": str(run.project_id),
        "name": run.name,
        "state": run.state,
        "state_changed_at": _iso(run.state_changed_at),
        "phase": run.phase,
        "attempt": run.attempt,
        "num_batches": run.num_batches,
        "num_batches_done": run.num_batches_done,
        "policy_version": run.policy_version,
        "headline": run.headline,
        "created_at": _iso(run.created_at),
        "started_at": _iso(run.started_at),
        "ended_at": _iso(run.ended_at),
        "tags": run.tags,
        "archived_at": _iso(run.archived_at),
    }


def run_body(run: Run, *, role: str | None, waiting: str = "") -> dict[str, Any]:
    """The whole run for a reader of `role` in its project; `waiting` says what a queued run waits for."""
    return {
        **run_row(run),
        "project": {"id": str(run.project_id), "name": run.project.name, "role": role},
        "max_attempts": run.max_attempts,
        "spec": run.spec,
        "algebra": run.algebra,
        "algebra_text": run.batch_algebra.describe(),
        "num_prompts": run.num_prompts,
        "created_by": None if run.created_by is None else run.created_by.username,
        "last_heartbeat_at": _iso(run.last_heartbeat_at),
        "failure": run.failure,
        "notes": run.notes,
        "parent": None if run.parent_id is None else str(run.parent_id),
        "resume_batch": run.resume_batch if run.resume_from else None,
        "ending": run.ending or None,
        "legal_actions": [action.value for action in legal_actions(run)],
        "waiting": waiting,
    }


def transition_item(transition: RunTransition) -> dict[str, Any]:
    """A transition as an item of the run's stream, like any event of the driver."""
    return {
        "stream_seq": transition.stream_seq,
        "type": "transition",
        "at": transition.at.timestamp(),
        "attempt": transition.attempt,
        "body": {
            "old": transition.old,
            "new": transition.new,
            "reason": transition.reason,
            "actor": transition.actor,
            "at": transition.at.timestamp(),
        },
    }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
