"""Applies a driver's reports to its run. Telemetry calls it inside the transaction that stores them.

Telemetry holds the run's stream lock, has authorised the attempt, and calls `record_heartbeat` for every batch and
`apply_event` for every new event, in order. Invariant: the transition table decides whether a reported state is
applied; a report that comes too late (a pause confirmed after a stop was requested) changes nothing.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from fleet.health.device_proof import compare as compare_devices
from fleet.health.slowdowns import note_speeds
from live.publish import publish_project
from runs.attempts import attempts
from runs.attempts.failure import describe_failure
from runs.forecast.paces import begin_anew, record_pace
from runs.fork_release import release_before_first_checkpoint
from runs.models import AttemptOutcome, PendingCommand, Run
from runs.planning.cost_history import record_costs
from runs.planning.plan_revisions import record_plan
from runs.reports.resize_reports import apply_report
from runs.run_body import run_row
from runs.run_news import tell_of_reward_hacking
from runs.transitions import move
from worker.contracts.commands import RunCommand
from worker.contracts.events import (
    CheckpointEvent,
    CommandDoneEvent,
    CostsEvent,
    EvaluationEvent,
    PhaseEvent,
    PlanEvent,
    PublishEvent,
    ResumedEvent,
    RewardHackingEvent,
    RunEvent,
    StateEvent,
)
from worker.contracts.lane_events import LanesEvent
from worker.contracts.resizing import ResizeState
from worker.contracts.states import END_STATES, RunState, is_legal
from worker.scheduling.core.costs import parse_measured_costs

ACTOR = "driver"
REPORTABLE_STATES = END_STATES | {RunState.RUNNING, RunState.PAUSED, RunState.STOPPING}
"""States that a driver may report; only the web sets queued and starting."""


def apply_event(run_id: UUID, attempt: int, event: RunEvent) -> None:
    """Update the run from one event; most types of event change only telemetry's own rows."""
    match event:
        case StateEvent():
            apply_state(run_id, attempt, event)
        case PhaseEvent():
            record_progress(run_id, phase=event.phase.value)
        case PublishEvent():
            # Each batch ends with one version, so versions count batches. Metrics do not: those of an evaluation of
            # the version before arrive while the next batch already reports its own.
            record_progress(run_id, policy_version=event.policy_version, num_batches_done=event.policy_version)
            record_pace(run_id, attempt, event)
        case ResumedEvent():
            record_progress(run_id, num_batches_done=event.batch, policy_version=event.policy_version)
        case EvaluationEvent():
            record_evaluation(run_id, event)
        case CheckpointEvent():
            release_before_first_checkpoint(run_id)
            record_progress(run_id, resume_from=event.uri, resume_batch=event.batch)
        case CommandDoneEvent():
            record_command_done(run_id, event)
        case LanesEvent(lanes=lanes, resize=report):
            # Those that share a card hold none: the lane that does is compared.
            own = {lane.lane: lane.uuids for lane in lanes if lane.uuids and lane.shares is None}
            compare_devices(run_id, attempt, own)
            if report is not None:
                apply_report(run_id, attempt, report)
                if report.state is ResizeState.DONE:
                    begin_anew(run_id)
        case CostsEvent():
            record_costs(run_id, attempt, event)
            note_speeds(run_id, attempt, parse_measured_costs(event.costs))
        case PlanEvent():
            record_plan(run_id, attempt, event)
        case RewardHackingEvent():
            tell_of_reward_hacking(Run.objects.select_related("project").get(pk=run_id), event)
        case _:
            pass


def record_heartbeat(run_id: UUID) -> None:
    """Record that the driver has posted, even if only an empty batch."""
    Run.objects.filter(pk=run_id).update(last_heartbeat_at=timezone.now())


def apply_state(run_id: UUID, attempt: int, event: StateEvent) -> None:
    """Move the run to the reported state as far as the table allows, through at most one state in between."""
    run = Run.objects.get(pk=run_id)
    path = _path(run.run_state, event.state) if run.attempt == attempt else []
    state = run.run_state
    for new in path:
        changes: dict[str, Any] = {}
        if new is RunState.FAILED:
            reason = event.reason or "the driver gave no reason"
            changes["failure"] = describe_failure(run.run_spec, reason=reason, phase=run.phase, details=event.details)
        move(run_id, [state], new, reason=event.reason, actor=ACTOR, attempt=attempt, changes=changes)
        state = new
    if path and state in END_STATES:
        attempts.close(run_id, attempt, AttemptOutcome.ENDED, detail=event.reason or f"the run ended as {state}")


def _path(current: RunState, wanted: RunState) -> list[RunState]:
    """The moves from `current` to the reported state; empty if there is no legal path."""
    if wanted is current or wanted not in REPORTABLE_STATES:
        return []
    if is_legal(current, wanted):
        return [wanted]
    if current is RunState.STOPPING:
        return []
    between = (RunState.RUNNING, RunState.STOPPING)
    return next(([mid, wanted] for mid in between if is_legal(current, mid) and is_legal(mid, wanted)), [])


def record_progress(run_id: UUID, **fields: str | int) -> None:
    """Write progress columns (`phase`, `num_batches_done`, `policy_version`, …) and publish them to the runs list."""
    Run.objects.filter(pk=run_id).update(**fields)
    _announce(run_id)


def record_evaluation(run_id: UUID, event: EvaluationEvent) -> None:
    """Keep the first and the latest held-out evaluation: before and after."""
    run = Run.objects.get(pk=run_id)
    headline = dict(run.headline)
    reward = event.values.get("reward")
    if event.batch == (run.forked_batch or 0):
        headline.update(reward_before=reward, before=event.values, num_samples=event.num_samples)
    else:
        headline.update(reward_after=reward, after=event.values, batch_after=event.batch)
    Run.objects.filter(pk=run_id).update(headline=headline)
    _announce(run_id)


def record_command_done(run_id: UUID, event: CommandDoneEvent) -> None:
    """Store the driver's answer to a command; a repeated answer, or one to an unknown command, is dropped."""
    try:
        key = UUID(event.command_id)
    except ValueError:
        return
    rows = PendingCommand.objects.filter(run_id=run_id, done_at=None, pk=key)
    rows.update(done_at=timezone.now(), accepted=event.accepted, detail=event.detail)


def pending_commands(run_id: UUID) -> tuple[RunCommand, ...]:
    """Commands that the driver has not answered, oldest first. They are sent until it does; it recognises repeats by
    id."""
    open_commands = list(PendingCommand.objects.filter(run_id=run_id, done_at=None))
    _mark_delivered(open_commands)
    return tuple(
        RunCommand.model_validate({"prompts": [], **row.args, "id": str(row.pk), "kind": row.kind})
        for row in open_commands
    )


def _mark_delivered(commands: Sequence[PendingCommand]) -> None:
    fresh = [command.pk for command in commands if command.delivered_at is None]
    if fresh:
        PendingCommand.objects.filter(pk__in=fresh).update(delivered_at=timezone.now())


def _announce(run_id: UUID) -> None:
    run = Run.objects.get(pk=run_id)
    publish_project(run.project_id, run_row(run))
