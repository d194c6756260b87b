"""How fast runs get on, from what their drivers publish, and what that tells of their end and of runs like them."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from runs.forecast.end_forecast import Basis, Outcome
from runs.forecast.paces import MAX_KEPT, begin_anew
from runs.forecast.run_ends import ends_of, whole_durations
from runs.models import Attempt, Run, RunPace
from runs.reports.driver_reports import apply_event
from runs.transitions import move
from worker.contracts.events import PublishEvent
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db
LiveRun = Callable[..., Attempt]
MakeSpec = Callable[..., RunSpec]


def publish(attempt: Attempt, version: int, at: float) -> None:
    event = PublishEvent(
        seq=version + 1, at=at, policy_version=version, num_bytes=1, num_tensors=1, sha256="0" * 64, seconds=0.1
    )
    apply_event(attempt.run_id, attempt.number, event)


def published(attempt: Attempt, *seconds: float, ago: float = 0.0) -> None:
    """Publish version 0, and one after each of these times; the last one `ago` seconds before now."""
    at = timezone.now().timestamp() - ago - sum(seconds)
    Attempt.objects.filter(pk=attempt.pk).update(created_at=timezone.now() - timedelta(seconds=ago + sum(seconds) + 30))
    publish(attempt, 0, at)
    for number, took in enumerate(seconds, start=1):
        at += took
        publish(attempt, number, at)


def seconds_in(outcome: Outcome) -> tuple[float, float, float]:
    assert outcome.band is not None
    return outcome.band.earliest, outcome.band.likely, outcome.band.latest


@pytest.fixture
def long_run(live_run: LiveRun, make_spec: MakeSpec) -> Attempt:
    return live_run(spec=make_spec(num_batches=20))


def test_a_run_ends_when_its_measured_batches_say(long_run: Attempt) -> None:
    assert ends_of([long_run.run_id], timezone.now())[long_run.run_id].basis is Basis.UNKNOWN
    published(long_run, 10.0, 10.0, 10.0, 10.0, ago=4.0)
    outcome = ends_of([long_run.run_id], timezone.now())[long_run.run_id]
    assert outcome.basis is Basis.MEASURED
    assert seconds_in(outcome) == pytest.approx((156, 156, 164), abs=1)


def test_time_in_pause_is_no_time_of_a_batch(long_run: Attempt) -> None:
    now = timezone.now().timestamp()
    publish(long_run, 0, now - 20)
    publish(long_run, 1, now - 10)
    move(long_run.run_id, [RunState.RUNNING], RunState.PAUSED, reason="", actor="alice")
    assert ends_of([long_run.run_id], timezone.now())[long_run.run_id].basis is Basis.UNKNOWN, "it may be resumed"
    move(long_run.run_id, [RunState.PAUSED], RunState.RUNNING, reason="", actor="alice")
    publish(long_run, 2, now + 3600)
    publish(long_run, 3, now + 3610)
    assert RunPace.objects.get().batch_seconds == [10, 10]


def test_batches_that_are_posted_together_count_with_their_mean(long_run: Attempt) -> None:
    now = timezone.now().timestamp()
    Attempt.objects.filter(pk=long_run.pk).update(created_at=timezone.now() - timedelta(seconds=60))
    publish(long_run, 2, now - 30)
    publish(long_run, 5, now)
    pace = RunPace.objects.get()
    assert pace.batch_seconds == [10]
    assert pace.start_seconds == pytest.approx(60 - 30 - 2 * 10, abs=1)


def test_another_attempt_begins_anew_and_only_the_newest_batches_count(long_run: Attempt) -> None:
    for version in range(MAX_KEPT + 5):
        publish(long_run, version, 10.0 * version + (100 if version < 3 else 0))
    assert RunPace.objects.get().batch_seconds == [10] * MAX_KEPT
    second = Attempt(run=long_run.run, run_id=long_run.run_id, number=2)
    publish(second, 4, 0.0)
    assert (RunPace.objects.get().attempt, RunPace.objects.get().batch_seconds) == (2, [])


def test_a_run_with_other_lanes_is_measured_anew(long_run: Attempt) -> None:
    published(long_run, 10.0, 10.0, 10.0)
    assert ends_of([long_run.run_id], timezone.now())[long_run.run_id].basis is Basis.MEASURED
    Run.objects.filter(pk=long_run.run_id).update(resized_lanes={"num_rollout": 2, "num_trainer": 1, "num_reward": 1})
    before = RunPace.objects.get().likeness
    begin_anew(long_run.run_id)
    assert RunPace.objects.get().likeness != before
    assert ends_of([long_run.run_id], timezone.now())[long_run.run_id].basis is Basis.UNKNOWN
    publish(long_run, 4, timezone.now().timestamp() + 5.0)
    assert ends_of([long_run.run_id], timezone.now())[long_run.run_id].basis is Basis.MEASURED


def test_a_stopping_run_ends_within_its_limit(long_run: Attempt, settings: object) -> None:
    settings.TANDEM_MAX_STOP_SECONDS = 100.0  # type: ignore[attr-defined]
    move(long_run.run_id, [RunState.RUNNING], RunState.STOPPING, reason="", actor="alice")
    outcome = ends_of([long_run.run_id], timezone.now())[long_run.run_id]
    assert outcome.basis is Basis.STOP_LIMIT
    assert seconds_in(outcome) == pytest.approx((0, 50, 100), abs=1)


def test_runs_of_the_same_work_and_lanes_tell_how_long_one_will_take(
    long_run: Attempt, make_run: Callable[..., Run], make_spec: MakeSpec
) -> None:
    published(long_run, 10.0, 10.0, 10.0)
    alike = make_run(spec=make_spec(num_batches=7))
    more_lanes = make_run(spec=make_spec(num_batches=7, lanes={"num_rollout": 2}))
    other_work = make_run(spec=make_spec(num_batches=7, batch={"num_prompts_per_batch": 3, "group_size": 2}))
    half_done = make_run(spec=make_spec(num_batches=7), resume_from="file:///c", resume_batch=4)
    found = whole_durations([alike, more_lanes, other_work, half_done])
    assert found[alike.pk].basis is Basis.HISTORY
    assert seconds_in(found[alike.pk]) == pytest.approx((100, 100, 103.5), abs=1)
    assert {found[run.pk].basis for run in (more_lanes, other_work)} == {Basis.UNKNOWN}
    assert seconds_in(found[half_done.pk])[1] == pytest.approx(30 + 30, abs=1)
