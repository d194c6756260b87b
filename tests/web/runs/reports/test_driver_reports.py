from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.models import Attempt, AttemptOutcome, Run, RunTransition
from runs.reports import driver_reports
from worker.contracts.events import (
    CheckpointEvent,
    EvaluationEvent,
    LogEvent,
    MetricsEvent,
    PhaseEvent,
    PublishEvent,
    ResumedEvent,
    StateEvent,
)
from worker.contracts.states import END_STATES, Phase, RunState

pytestmark = pytest.mark.django_db


def report_of(state: RunState, reason: str = "", details: str = "") -> StateEvent:
    return StateEvent(seq=1, at=0.0, state=state, reason=reason, details=details)


def states_of(run_id: UUID) -> list[str]:
    return [row.new for row in RunTransition.objects.filter(run_id=run_id)]


@pytest.mark.parametrize(
    ("current", "word", "way"),
    [
        ("starting", "running", ["running"]),
        ("starting", "completed", ["running", "completed"]),
        ("starting", "paused", ["running", "paused"]),
        ("starting", "failed", ["failed"]),
        ("running", "running", []),
        ("running", "paused", ["paused"]),
        ("running", "completed", ["completed"]),
        ("running", "cancelled", ["stopping", "cancelled"]),
        ("running", "stopped", ["stopping", "stopped"]),
        ("running", "starting", []),
        ("running", "queued", []),
        ("paused", "running", ["running"]),
        ("paused", "completed", ["running", "completed"]),
        ("stopping", "running", []),
        ("stopping", "paused", []),
        ("stopping", "completed", ["completed"]),
        ("stopping", "cancelled", ["cancelled"]),
        ("stopping", "failed", ["failed"]),
        ("stopping", "stopped", ["stopped"]),
        ("completed", "running", []),
        ("stopped", "running", []),
        ("cancelled", "failed", []),
    ],
)
def test_a_reported_state_is_applied_as_far_as_the_table_allows(
    live_run: Callable[..., Attempt], current: str, word: str, way: list[str]
) -> None:
    attempt = live_run(RunState(current))
    driver_reports.apply_event(attempt.run_id, 1, report_of(RunState(word)))
    assert states_of(attempt.run_id) == way


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(words=st.lists(st.sampled_from(list(RunState)), max_size=6))
def test_no_report_of_a_driver_breaks_the_run(live_run: Callable[..., Attempt], words: list[RunState]) -> None:
    attempt = live_run(RunState.STARTING)
    for word in words:
        driver_reports.apply_event(attempt.run_id, 1, report_of(word))
    run = Run.objects.get(pk=attempt.run_id)
    is_open = Attempt.objects.filter(run=run, ended_at=None).exists()
    assert is_open == (run.run_state not in END_STATES)
    assert (run.failure is not None) == (run.run_state is RunState.FAILED)


def test_a_reported_end_closes_the_attempt(live_run: Callable[..., Attempt]) -> None:
    attempt = live_run()
    driver_reports.apply_event(attempt.run_id, 1, report_of(RunState.COMPLETED))
    attempt.refresh_from_db()
    assert (attempt.outcome, attempt.detail) == (AttemptOutcome.ENDED, "the run ended as completed")


def test_reports_of_an_older_attempt_are_ignored(live_run: Callable[..., Attempt]) -> None:
    attempt = live_run()
    Run.objects.filter(pk=attempt.run_id).update(attempt=2)
    driver_reports.apply_event(attempt.run_id, 1, report_of(RunState.FAILED))
    assert states_of(attempt.run_id) == []


def test_a_reported_failure_says_why_and_what_to_try(live_run: Callable[..., Attempt]) -> None:
    attempt = live_run(phase="train")
    driver_reports.apply_event(
        attempt.run_id, 1, report_of(RunState.FAILED, "non-finite loss in batch 3", "Traceback …")
    )
    failure = Run.objects.get(pk=attempt.run_id).failure
    assert failure is not None
    assert (failure["reason"], failure["phase"], failure["details"]) == (
        "non-finite loss in batch 3", "train", "Traceback …",
    )  # fmt: skip
    assert any("learning_rate" in hint for hint in failure["suggestions"])


def test_progress_is_kept_on_the_run(live_run: Callable[..., Attempt]) -> None:
    run_id = live_run().run_id
    for event in (
        PhaseEvent(seq=1, at=0.0, phase=Phase.TRAIN),
        PublishEvent(seq=3, at=0.0, policy_version=7, num_bytes=1, num_tensors=1, sha256="0" * 64, seconds=0.1),
        CheckpointEvent(seq=4, at=0.0, batch=5, policy_version=5, optimizer_step=20, uri="file:///c/b5", num_bytes=9),
        LogEvent(seq=5, at=0.0, level="info", source="driver", message="hello"),
    ):
        driver_reports.apply_event(run_id, 1, event)
    run = Run.objects.get(pk=run_id)
    assert (run.phase, run.num_batches_done, run.policy_version) == ("train", 7, 7)
    assert (run.resume_from, run.resume_batch) == ("file:///c/b5", 5)


@pytest.mark.parametrize("batch", [0, 8])
def test_curves_of_a_batch_under_way_or_of_an_evaluation_move_no_progress(
    live_run: Callable[..., Attempt], batch: int
) -> None:
    run_id = live_run(num_batches_done=7).run_id
    values = {"reward/mean": 0.5}
    driver_reports.apply_event(run_id, 1, MetricsEvent(seq=1, at=0.0, batch=batch, optimizer_step=28, values=values))
    assert Run.objects.get(pk=run_id).num_batches_done == 7


def test_a_resumed_attempt_counts_from_its_checkpoint(live_run: Callable[..., Attempt]) -> None:
    run_id = live_run(num_batches_done=9, policy_version=9).run_id
    driver_reports.apply_event(run_id, 1, ResumedEvent(seq=1, at=0.0, batch=5, policy_version=5, optimizer_step=20))
    run = Run.objects.get(pk=run_id)
    assert (run.num_batches_done, run.policy_version) == (5, 5)


def test_the_headline_keeps_the_first_and_the_latest_evaluation(live_run: Callable[..., Attempt]) -> None:
    run_id = live_run().run_id
    for batch, reward in ((0, 0.25), (10, 0.5), (20, 0.625)):
        values = {"reward": reward, "shape_match": reward}
        event = EvaluationEvent(seq=1, at=0.0, batch=batch, policy_version=batch, num_samples=8, values=values)
        driver_reports.apply_event(run_id, 1, event)
    headline = Run.objects.get(pk=run_id).headline
    assert (headline["reward_before"], headline["reward_after"], headline["batch_after"]) == (0.25, 0.625, 20)
    assert headline["before"]["shape_match"] == 0.25


def test_a_heartbeat_is_kept(live_run: Callable[..., Attempt]) -> None:
    attempt = live_run()
    Run.objects.filter(pk=attempt.run_id).update(last_heartbeat_at=None)
    driver_reports.record_heartbeat(attempt.run_id)
    assert Run.objects.get(pk=attempt.run_id).last_heartbeat_at is not None
