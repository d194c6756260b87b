from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.models import Project, User
from fleet.models import Lane
from fleet.selectors import free_lanes
from runs.attempts.reconciler import Reconciler
from runs.cluster import JobStatus
from runs.command_services import request_command
from runs.models import Attempt, AttemptOutcome, PendingCommand, Run, RunTransition
from runs.queue.dispatch import dispatch_waiting, start_attempt
from runs.reports import driver_reports
from runs.services import delete_run
from worker.contracts.events import CommandDoneEvent, StateEvent
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db


def state_of(attempt: Attempt) -> str:
    return Run.objects.values_list("state", flat=True).get(pk=attempt.run_id)


def held(attempt: Attempt) -> int:
    return Lane.objects.filter(run_id=attempt.run_id, attempt=attempt.number).count()


def age(attempt: Attempt, *names: str, seconds: float) -> None:
    """Let these timestamps of the attempt and of its run be so old."""
    then = timezone.now() - timedelta(seconds=seconds)
    Attempt.objects.filter(pk=attempt.pk).update(**{name: then for name in names if hasattr(Attempt, name)})
    Run.objects.filter(pk=attempt.run_id).update(**{name: then for name in names if hasattr(Run, name)})


def silence(attempt: Attempt, seconds: float) -> None:
    age(attempt, "last_heartbeat_at", "bootstrap_used_at", "silent_from", seconds=seconds)


def test_a_healthy_driver_is_left_alone(live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any) -> None:
    attempt = live_run()
    silence(attempt, 11)
    reconciler.tick()
    assert (state_of(attempt), held(attempt), cluster.stopped) == ("running", 3, [])


@pytest.mark.parametrize("job", [JobStatus.FAILED, JobStatus.STOPPED, JobStatus.SUCCEEDED])
def test_a_killed_driver_is_found_and_the_run_resumed_on_its_lanes_in_one_round(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any, job: JobStatus
) -> None:
    attempt = live_run(resume_from="file:///c/b4", resume_batch=4)
    cluster.jobs[attempt.submission_id] = job
    cluster.logs = "the last lines"
    reconciler.tick()
    attempt.refresh_from_db()
    assert (state_of(attempt), held(attempt)) == ("starting", 0)
    assert (attempt.outcome, attempt.log_tail) == (AttemptOutcome.LOST, "the last lines")
    assert "attempt 2 goes on from batch 4 (1 of 3 lost)" in RunTransition.objects.get(run=attempt.run).reason
    again = Attempt.objects.get(run=attempt.run, number=2)
    assert (again.resumed_from, held(again)) == ("file:///c/b4", 3)


def test_one_without_a_checkpoint_has_its_lanes_freed_and_is_dispatched_again(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run()
    cluster.jobs[attempt.submission_id] = JobStatus.FAILED
    reconciler.tick()
    assert (state_of(attempt), held(attempt)) == ("starting", 0)
    assert dispatch_waiting() == [attempt.run_id]


def test_a_job_that_the_cluster_forgot_is_lost_once_submission_is_surely_over(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run()
    del cluster.jobs[attempt.submission_id]
    reconciler.tick()
    assert state_of(attempt) == "running"
    age(attempt, "submitted_at", seconds=31)
    reconciler.tick()
    assert state_of(attempt) == "starting"


def test_attempts_are_bounded_and_the_failure_says_why(
    live_run: Callable[..., Attempt], make_spec: Callable[..., RunSpec], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run(spec=make_spec(max_attempts=1), phase="train")
    cluster.jobs[attempt.submission_id] = JobStatus.FAILED
    cluster.logs = "torch.OutOfMemoryError: out of memory"
    reconciler.tick()
    run = Run.objects.get(pk=attempt.run_id)
    assert run.failure is not None
    assert (run.state, run.failure["phase"]) == ("failed", "train")
    assert "1 of at most 1 attempts were lost" in run.failure["reason"]
    assert run.failure["log_tail"] == cluster.logs
    assert held(attempt) == 0


def test_parked_attempts_do_not_count_as_lost(
    live_run: Callable[..., Attempt], make_spec: Callable[..., RunSpec], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run(spec=make_spec(max_attempts=2))
    for number, outcome in ((10, "parked"), (11, "parked"), (12, "lost")):
        Attempt.objects.create(run=attempt.run, number=number, outcome=outcome, ended_at=timezone.now())
    cluster.jobs[attempt.submission_id] = JobStatus.FAILED
    reconciler.tick()
    assert state_of(attempt) == "failed", "the second loss of two"


def test_a_driver_lost_before_it_ran_goes_back_to_the_queue(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run(RunState.STARTING)
    cluster.jobs[attempt.submission_id] = JobStatus.FAILED
    reconciler.tick()
    assert state_of(attempt) == "queued"
    assert dispatch_waiting() == [attempt.run_id]


def test_a_driver_that_never_bootstraps_is_lost_when_its_code_expires(
    live_run: Callable[..., Attempt], reconciler: Reconciler
) -> None:
    attempt = live_run(RunState.STARTING)
    silence(attempt, 100)
    Attempt.objects.update(bootstrap_used_at=None, bootstrap_expires_at=timezone.now() + timedelta(seconds=60))
    reconciler.tick()
    assert state_of(attempt) == "starting"
    Attempt.objects.update(bootstrap_expires_at=timezone.now())
    reconciler.tick()
    assert "never traded its bootstrap code" in Attempt.objects.get(pk=attempt.pk).detail


def test_an_attempt_nobody_launched_is_launched_again_and_given_up_at_last(
    live_run: Callable[..., Attempt],
    reconciler: Reconciler,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args=(), **_: sent.append((name, args)))
    attempt = live_run(RunState.STARTING)
    Attempt.objects.update(submitted_at=None, bootstrap_used_at=None)
    with django_capture_on_commit_callbacks(execute=True):
        reconciler.tick()
        age(attempt, "created_at", seconds=11)
        reconciler.tick()
    assert sent == [("tandem.runs.launch", (str(attempt.run_id), 1))]
    age(attempt, "created_at", seconds=91)
    reconciler.tick()
    assert state_of(attempt) == "queued"


@pytest.mark.parametrize(
    ("kind", "checkpoint", "state"),
    [("cancel", "file:///c", "cancelled"), ("stop", "", "failed"), ("stop", "file:///c", "stopped")],
)
def test_a_stopping_run_whose_driver_is_gone_is_finished(
    live_run: Callable[..., Attempt],
    project: Project,
    bob: User,
    reconciler: Reconciler,
    cluster: Any,
    kind: str,
    checkpoint: str,
    state: str,
) -> None:
    attempt = live_run(project=project, resume_from=checkpoint)
    request_command(user=bob, run=attempt.run, kind=kind)
    cluster.jobs[attempt.submission_id] = JobStatus.FAILED
    reconciler.tick()
    assert (state_of(attempt), held(attempt)) == (state, 0)


@pytest.mark.parametrize(("kind", "grace_seconds", "state"), [("cancel", 10, "cancelled"), ("stop", 180, "failed")])
def test_a_driver_that_does_not_end_in_time_is_stopped(
    live_run: Callable[..., Attempt],
    project: Project,
    bob: User,
    reconciler: Reconciler,
    cluster: Any,
    kind: str,
    grace_seconds: int,
    state: str,
    settings: Settings,
) -> None:
    settings.TANDEM_MAX_STOP_SECONDS = 60.0  # and two minutes to save in
    attempt = live_run(project=project)
    request_command(user=bob, run=attempt.run, kind=kind)
    age(attempt, "ending_at", seconds=grace_seconds - 2)
    reconciler.tick()
    assert state_of(attempt) == "stopping"
    age(attempt, "ending_at", seconds=grace_seconds + 1)
    reconciler.tick()
    assert (state_of(attempt), held(attempt)) == (state, 0)
    assert attempt.submission_id in cluster.stopped


def test_lanes_of_an_ended_run_are_freed_when_its_job_is_over(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run()
    driver_reports.apply_event(attempt.run_id, 1, StateEvent(seq=1, at=0.0, state=RunState.COMPLETED))
    reconciler.tick()
    assert (held(attempt), cluster.stopped) == (3, []), "the driver gets time to exit"
    cluster.jobs[attempt.submission_id] = JobStatus.SUCCEEDED
    reconciler.tick()
    assert (held(attempt), state_of(attempt)) == (0, "completed")


def test_an_ended_driver_that_does_not_exit_is_stopped(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run()
    driver_reports.apply_event(attempt.run_id, 1, StateEvent(seq=1, at=0.0, state=RunState.COMPLETED))
    age(attempt, "ended_at", seconds=31)
    reconciler.tick()
    reconciler.tick()
    assert (held(attempt), cluster.stopped) == (0, [attempt.submission_id])


def test_a_failed_drivers_log_tail_is_stored_with_the_failure(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run(phase="load_model")
    event = StateEvent(seq=1, at=0.0, state=RunState.FAILED, reason="the loader failed", details="Traceback …")
    driver_reports.apply_event(attempt.run_id, 1, event)
    cluster.jobs[attempt.submission_id] = JobStatus.FAILED
    cluster.logs = "No space left on device"
    reconciler.tick()
    failure = Run.objects.get(pk=attempt.run_id).failure
    assert failure is not None
    assert (failure["reason"], failure["phase"], failure["details"]) == (
        "the loader failed",
        "load_model",
        "Traceback …",
    )
    assert failure["log_tail"] == "No space left on device"
    assert any("Free disk space" in hint for hint in failure["suggestions"])


def test_a_deleted_runs_job_is_stopped_and_its_lanes_freed(
    live_run: Callable[..., Attempt], project: Project, bob: User, reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run(project=project)
    driver_reports.apply_event(attempt.run_id, 1, StateEvent(seq=1, at=0.0, state=RunState.COMPLETED))
    delete_run(user=bob, run=Run.objects.get(pk=attempt.run_id))
    reconciler.tick()
    reconciler.tick()
    assert (free_lanes(), cluster.stopped) == ({"cpu": 6}, [attempt.submission_id])


@pytest.fixture
def short_pauses(settings: Settings) -> None:
    settings.TANDEM_MAX_PAUSE_SECONDS = 200.0


def park_after(attempt: Attempt, reconciler: Reconciler, answer: Callable[[PendingCommand], None]) -> None:
    age(attempt, "state_changed_at", seconds=199)
    reconciler.tick()
    assert not PendingCommand.objects.exists()
    age(attempt, "state_changed_at", seconds=201)
    reconciler.tick()
    reconciler.tick()
    asked = PendingCommand.objects.get()
    assert (asked.kind, held(attempt)) == ("checkpoint_now", 3)
    answer(asked)
    reconciler.tick()
    reconciler.tick()


@pytest.mark.usefixtures("short_pauses")
def test_a_long_pause_checkpoints_then_frees_the_lanes_and_stays_paused(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run(RunState.PAUSED)

    def done(asked: PendingCommand) -> None:
        event = CommandDoneEvent(seq=1, at=0.0, command_id=str(asked.pk), accepted=True)
        driver_reports.record_command_done(attempt.run_id, event)

    park_after(attempt, reconciler, done)
    attempt.refresh_from_db()
    assert (state_of(attempt), held(attempt), attempt.outcome) == ("paused", 0, AttemptOutcome.PARKED)
    assert cluster.stopped == [attempt.submission_id]


@pytest.mark.usefixtures("short_pauses")
def test_a_pause_is_parked_even_if_the_checkpoint_never_comes(
    live_run: Callable[..., Attempt], reconciler: Reconciler
) -> None:
    attempt = live_run(RunState.PAUSED)
    overdue = timezone.now() - timedelta(seconds=121)
    park_after(attempt, reconciler, lambda asked: _set_created(asked, overdue))
    attempt.refresh_from_db()
    assert (state_of(attempt), held(attempt)) == ("paused", 0)
    assert "a newer checkpoint was not made: no answer" in attempt.detail


@pytest.mark.usefixtures("short_pauses")
def test_a_run_about_to_be_resumed_is_not_parked(
    live_run: Callable[..., Attempt], reconciler: Reconciler, project: Project, bob: User
) -> None:
    attempt = live_run(RunState.PAUSED, project=project)

    def resume(asked: PendingCommand) -> None:
        PendingCommand.objects.filter(pk=asked.pk).update(done_at=timezone.now(), accepted=True)
        request_command(user=bob, run=attempt.run, kind="resume")

    park_after(attempt, reconciler, resume)
    attempt.refresh_from_db()
    assert (held(attempt), attempt.ended_at) == (3, None)


def _set_created(command: PendingCommand, at: datetime) -> None:
    PendingCommand.objects.filter(pk=command.pk).update(created_at=at)


def test_an_error_with_one_run_delays_no_other(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, lost = live_run(), live_run()
    cluster.jobs[lost.submission_id] = JobStatus.FAILED
    honest = cluster.status

    def status(name: str) -> JobStatus:
        if name == broken.submission_id:
            raise ZeroDivisionError
        return honest(name)

    monkeypatch.setattr(cluster, "status", status)
    with pytest.raises(ExceptionGroup) as caught:
        reconciler.tick()
    assert caught.group_contains(ZeroDivisionError)
    assert (state_of(lost), held(lost)) == ("starting", 0)


def test_a_second_reconciler_finds_nothing_left_to_do(
    live_run: Callable[..., Attempt], reconciler: Reconciler, cluster: Any
) -> None:
    attempt = live_run()
    cluster.jobs[attempt.submission_id] = JobStatus.FAILED
    reconciler.tick()
    reconciler.tick()
    assert RunTransition.objects.filter(run=attempt.run).count() == 1
    resumed_attempt = start_attempt(attempt.run)
    reconciler.tick()
    assert Attempt.objects.get(pk=resumed_attempt.pk).ended_at is None
