from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from accounts.access import NotVisible
from accounts.models import Project, User
from fleet.services import release
from runs.attempts import attempts
from runs.attempts.tokens import AttemptGone, authorise
from runs.command_services import request_command
from runs.legal_actions import legal_actions
from runs.models import Attempt, AttemptOutcome, PendingCommand, Run, RunTransition
from runs.queue.dispatch import dispatch_waiting
from runs.reports import driver_reports
from runs.services import archive_run
from runs.transitions import RunStateConflict
from worker.contracts.commands import CommandKind
from worker.contracts.events import CommandDoneEvent, StateEvent
from worker.contracts.prompts import parse_prompts
from worker.contracts.states import RunState

KINDS = [kind for kind in CommandKind if kind is not CommandKind.RESIZE]
"""A resize has a service of its own: `test_resizes.py`."""


def moves(run: Run) -> list[tuple[str, str]]:
    return [(row.old, row.new) for row in RunTransition.objects.filter(run=run)]


@pytest.mark.parametrize("state", list(RunState))
@pytest.mark.parametrize("kind", KINDS)
def test_a_command_is_accepted_exactly_when_it_is_shown_as_possible(
    project: Project, bob: User, live_run: Callable[..., Attempt], state: RunState, kind: CommandKind
) -> None:
    run = live_run(state, project=project).run
    possible = legal_actions(run)
    if kind in possible:
        request_command(user=bob, run=run, kind=kind)
    else:
        with pytest.raises(RunStateConflict) as caught:
            request_command(user=bob, run=run, kind=kind)
        assert caught.value.state is state
        assert caught.value.legal == sorted(possible)
        assert not PendingCommand.objects.exists()


def test_only_editors_command_runs(
    project: Project, viewer: User, charlie: User, live_run: Callable[..., Attempt]
) -> None:
    run = live_run(project=project).run
    with pytest.raises(PermissionDenied):
        request_command(user=viewer, run=run, kind="pause")
    with pytest.raises(NotVisible):
        request_command(user=charlie, run=run, kind="pause")


def test_commands_reach_the_driver_in_order_until_it_answers(
    project: Project, bob: User, live_run: Callable[..., Attempt]
) -> None:
    run = live_run(project=project).run
    first = request_command(user=bob, run=run, kind="sample_now", prompts=["a red square"])
    second = request_command(user=bob, run=run, kind="checkpoint_now")
    pending = driver_reports.pending_commands(run.pk)
    assert [(command.id, command.kind, command.prompts) for command in pending] == [
        (str(first.pk), CommandKind.SAMPLE_NOW, parse_prompts(["a red square"])),
        (str(second.pk), CommandKind.CHECKPOINT_NOW, ()),
    ]
    assert driver_reports.pending_commands(run.pk) == pending, "sent again, since the answer may have been lost"
    driver_reports.record_command_done(
        run.pk, CommandDoneEvent(seq=1, at=0.0, command_id=str(first.pk), accepted=True, detail="4 pictures")
    )
    assert [command.id for command in driver_reports.pending_commands(run.pk)] == [str(second.pk)]
    first.refresh_from_db()
    assert (first.accepted, first.detail) == (True, "4 pictures")
    assert first.delivered_at is not None


@pytest.mark.parametrize("command_id", ["no-uuid", "00000000-0000-0000-0000-000000000000"])
def test_an_answer_to_no_command_is_dropped(make_run: Callable[..., Run], command_id: str) -> None:
    event = CommandDoneEvent(seq=1, at=0.0, command_id=command_id, accepted=True)
    driver_reports.record_command_done(make_run().pk, event)


@pytest.mark.parametrize(
    ("kind", "prompts", "field"),
    [("dance", (), "action"), ("sample_now", ["p"] * 17, "prompts"), ("pause", ["p"], "prompts")],
)
def test_wrong_commands_name_the_field(
    project: Project, bob: User, live_run: Callable[..., Attempt], kind: str, prompts: Any, field: str
) -> None:
    run = live_run(project=project).run
    with pytest.raises(ValidationError) as caught:
        request_command(user=bob, run=run, kind=kind, prompts=prompts)
    assert list(caught.value.message_dict) == [field]


def test_a_queued_run_is_cancelled_at_once(project: Project, bob: User, make_run: Callable[..., Run]) -> None:
    run = make_run(project)
    command = request_command(user=bob, run=run, kind="cancel")
    assert command.accepted
    assert moves(run) == [("queued", "cancelled")]


def test_stop_moves_the_run_at_once_and_waits_for_the_driver(
    project: Project, bob: User, live_run: Callable[..., Attempt]
) -> None:
    run = live_run(project=project).run
    command = request_command(user=bob, run=run, kind="stop")
    run.refresh_from_db()
    assert (run.state, run.ending, command.done_at) == ("stopping", "stop", None)
    assert [one.kind for one in driver_reports.pending_commands(run.pk)] == [CommandKind.STOP]


def test_stopping_only_worsens(project: Project, bob: User, live_run: Callable[..., Attempt]) -> None:
    run = live_run(project=project).run
    request_command(user=bob, run=run, kind="stop")
    request_command(user=bob, run=run, kind="cancel")
    run.refresh_from_db()
    assert (run.state, run.ending) == ("stopping", "cancel")
    assert [one.kind for one in driver_reports.pending_commands(run.pk)] == [
        CommandKind.STOP,
        CommandKind.CANCEL,
    ]
    for kind in KINDS:
        with pytest.raises(RunStateConflict):
            request_command(user=bob, run=run, kind=kind)


def test_a_run_whose_driver_is_not_up_yet_is_cancelled_at_once_and_its_attempt_fenced(
    project: Project, bob: User, live_run: Callable[..., Attempt]
) -> None:
    attempt = live_run(RunState.STARTING, project=project)
    Attempt.objects.update(bootstrap_used_at=None)
    request_command(user=bob, run=attempt.run, kind="cancel")
    attempt.refresh_from_db()
    assert attempt.outcome == AttemptOutcome.CLOSED
    assert moves(attempt.run) == [("starting", "stopping"), ("stopping", "cancelled")]
    with pytest.raises(AttemptGone):
        authorise(run_id=attempt.run_id, attempt=1, token="the run's token")


def test_a_parked_run_resumes_through_the_queue_with_its_next_attempt(
    project: Project, bob: User, live_run: Callable[..., Attempt]
) -> None:
    attempt = live_run(RunState.PAUSED, project=project, resume_from="file:///c", resume_batch=3)
    attempts.close(attempt.run_id, 1, AttemptOutcome.PARKED, detail="paused for long")
    assert legal_actions(attempt.run) == (CommandKind.RESUME, CommandKind.STOP, CommandKind.CANCEL)
    request_command(user=bob, run=attempt.run, kind="resume")
    assert dispatch_waiting() == [attempt.run_id]
    resumed_attempt = Attempt.objects.get(run=attempt.run, number=2)
    assert resumed_attempt.resumed_from == "file:///c"
    assert moves(attempt.run) == [("paused", "queued"), ("queued", "starting")]


def test_a_parked_run_is_cancelled_without_a_driver(
    project: Project, bob: User, live_run: Callable[..., Attempt]
) -> None:
    attempt = live_run(RunState.PAUSED, project=project)
    attempts.close(attempt.run_id, 1, AttemptOutcome.PARKED, detail="paused for long")
    request_command(user=bob, run=attempt.run, kind="cancel")
    assert moves(attempt.run) == [("paused", "stopping"), ("stopping", "cancelled")]


def stopped_run(live_run: Callable[..., Attempt], **fields: Any) -> Run:
    """A run that its driver stopped after batch 3."""
    attempt = live_run(resume_from="file:///c", resume_batch=3, **fields)
    driver_reports.apply_event(attempt.run_id, 1, StateEvent(seq=1, at=0.0, state=RunState.STOPPED, reason="stopped"))
    return Run.objects.get(pk=attempt.run_id)


def test_a_stopped_run_goes_on_from_its_checkpoint_in_its_next_attempt(
    project: Project, bob: User, live_run: Callable[..., Attempt]
) -> None:
    run = stopped_run(live_run, project=project)
    assert (run.has_ended, run.ended_at is not None, legal_actions(run)) == (True, True, (CommandKind.RESUME,))
    archive_run(user=bob, run=run)
    release(run_id=run.pk, attempt=1)
    request_command(user=bob, run=run, kind="resume")
    run.refresh_from_db()
    assert (run.state, run.ended_at, run.archived_at, run.ending) == ("queued", None, None, "")
    assert dispatch_waiting() == [run.pk]
    assert Attempt.objects.get(run=run, number=2).resumed_from == "file:///c"


def test_a_run_that_waits_to_go_on_can_be_stopped_again_and_one_that_never_began_cannot(
    project: Project, bob: User, live_run: Callable[..., Attempt], make_run: Callable[..., Run]
) -> None:
    waiting = stopped_run(live_run, project=project)
    request_command(user=bob, run=waiting, kind="resume")
    assert request_command(user=bob, run=waiting, kind="stop").accepted
    assert moves(waiting)[-2:] == [("stopped", "queued"), ("queued", "stopped")]
    fresh = make_run(project)
    with pytest.raises(RunStateConflict):
        request_command(user=bob, run=fresh, kind="stop")


def test_a_parked_run_is_stopped_without_a_driver(
    project: Project, bob: User, live_run: Callable[..., Attempt]
) -> None:
    attempt = live_run(RunState.PAUSED, project=project, resume_from="file:///c", resume_batch=3)
    attempts.close(attempt.run_id, 1, AttemptOutcome.PARKED, detail="paused for long")
    request_command(user=bob, run=attempt.run, kind="stop")
    assert moves(attempt.run) == [("paused", "stopping"), ("stopping", "stopped")]


def test_commands_end_with_their_attempt_as_done_or_not(
    project: Project, bob: User, live_run: Callable[..., Attempt]
) -> None:
    run = live_run(project=project).run
    sample = request_command(user=bob, run=run, kind="sample_now")
    stop = request_command(user=bob, run=run, kind="stop")
    attempts.close(run.pk, 1, AttemptOutcome.ENDED, detail="the run ended as completed")
    sample.refresh_from_db()
    stop.refresh_from_db()
    assert (sample.accepted, stop.accepted) == (False, True)
    assert sample.detail == "not done: the run ended as completed"
