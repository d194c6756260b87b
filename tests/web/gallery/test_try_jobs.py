"""A try's job: on a lane of its own, launched once, looked after until the lane is free again."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from fleet.models import Lane
from fleet.selectors import free_lanes, tries_with_lanes
from fleet.services import allocate, ensure_local_lanes
from gallery import tries, try_jobs
from gallery.models import Try, TryState
from runs.cluster import JobStatus
from runs.models import Run
from tests.web.gallery.conftest import TryCluster
from worker.contracts.sections import LaneSpec


@pytest.fixture
def launched(trial: Try, try_cluster: TryCluster) -> Try:
    """On a pool of one CPU lane."""
    ensure_local_lanes(num_cpu_lanes=1)
    assert try_jobs.launch(try_id=trial.pk, gateway=try_cluster)
    return Try.objects.get(pk=trial.pk)


def state(trial: Try) -> tuple[TryState, str]:
    return tries.current_state(Try.objects.get(pk=trial.pk))


@pytest.mark.django_db
def test_a_try_is_submitted_once_with_a_code_and_no_token(launched: Try, try_cluster: TryCluster) -> None:
    assert not try_jobs.launch(try_id=launched.pk, gateway=try_cluster)
    (name,) = try_cluster.jobs
    assert name == f"tandem-try-{launched.pk}"
    assert try_cluster.entrypoints[name] == "python -P -m worker.engine.try_prompts"
    assert set(try_cluster.envs[name]) == {"TANDEM_BOOTSTRAP_CODE", "TANDEM_PUBLIC_URL"}


@pytest.mark.django_db
def test_where_the_pool_has_gpus_a_try_gets_one_and_its_job_occupies_it(trial: Try, try_cluster: TryCluster) -> None:
    ensure_local_lanes(num_cpu_lanes=2, num_gpus=2)
    assert try_jobs.launch(try_id=trial.pk, gateway=try_cluster)
    lane = try_cluster.lanes[try_jobs.job_name(trial.pk)]
    assert lane is not None
    assert (lane.node, lane.device, lane.resource) == ("local", "0", "tandem-local-gpu-0")
    assert free_lanes() == {"cpu": 2, "gpu": 1}
    assert tries.trade_code(try_cluster.envs[try_jobs.job_name(trial.pk)]["TANDEM_BOOTSTRAP_CODE"]).device == "0"


@pytest.mark.django_db
def test_a_try_without_a_free_lane_waits_and_says_so(trial: Try, try_cluster: TryCluster, run: Run) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    wanted = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1)
    assert allocate(run_id=run.pk, attempt=1, wanted=wanted) is not None
    try_jobs.watch(gateway=try_cluster)
    assert (try_cluster.jobs, state(trial)) == ({}, (TryState.QUEUED, "waits for a free lane"))
    ensure_local_lanes(num_cpu_lanes=4)
    try_jobs.watch(gateway=try_cluster)
    assert len(try_cluster.jobs) == 1
    assert state(trial) == (TryState.QUEUED, "")


@pytest.mark.django_db
def test_tries_that_wait_are_launched_oldest_first(trained: Run, alice: User, try_cluster: TryCluster) -> None:
    older, newer = (tries.request_try(user=alice, run=trained, prompts=[text]) for text in ("older", "newer"))
    ensure_local_lanes(num_cpu_lanes=1)
    try_jobs.watch(gateway=try_cluster)
    assert tries_with_lanes() == [older.pk]
    Try.objects.filter(pk=older.pk).update(state=TryState.DONE)
    try_cluster.jobs[try_jobs.job_name(older.pk)] = JobStatus.SUCCEEDED
    try_jobs.watch(gateway=try_cluster)
    assert tries_with_lanes() == [newer.pk]


@pytest.mark.django_db
def test_a_lane_is_freed_when_the_job_is_over_and_not_before(launched: Try, try_cluster: TryCluster) -> None:
    name = try_jobs.job_name(launched.pk)
    try_jobs.watch(gateway=try_cluster)
    assert (tries_with_lanes(), try_cluster.stopped) == ([launched.pk], [])
    tries.end(launched.pk, "")
    try_jobs.watch(gateway=try_cluster)
    assert (tries_with_lanes(), try_cluster.stopped) == ([launched.pk], [name]), "it may still be there"
    try_jobs.watch(gateway=try_cluster)
    assert (tries_with_lanes(), free_lanes()) == ([], {"cpu": 1})
    assert state(launched) == (TryState.DONE, "")


@pytest.mark.django_db
def test_a_job_that_ends_without_a_word_fails_its_try_with_its_last_line(
    launched: Try, try_cluster: TryCluster
) -> None:
    try_cluster.jobs[try_jobs.job_name(launched.pk)] = JobStatus.FAILED
    try_cluster.logs = "Traceback …\nModuleNotFoundError: no torch"
    try_jobs.watch(gateway=try_cluster)
    assert state(launched) == (
        TryState.FAILED,
        "the job failed before it was done: ModuleNotFoundError: no torch",
    )
    assert free_lanes() == {"cpu": 1}


@pytest.mark.django_db
def test_a_job_that_the_cluster_does_not_know_yet_gets_time_to_arrive(launched: Try, try_cluster: TryCluster) -> None:
    try_cluster.jobs.clear()
    try_jobs.watch(gateway=try_cluster)
    assert state(launched)[0] is TryState.QUEUED
    Try.objects.update(deadline=timezone.now() + tries.TIME_LIMIT - timedelta(seconds=31))
    try_jobs.watch(gateway=try_cluster)
    assert (state(launched)[0], free_lanes()) == (TryState.FAILED, {"cpu": 1})


@pytest.mark.django_db
def test_the_job_of_an_overdue_or_deleted_try_is_stopped(launched: Try, try_cluster: TryCluster) -> None:
    Try.objects.all().delete()
    try_jobs.watch(gateway=try_cluster)
    assert try_cluster.stopped == [try_jobs.job_name(launched.pk)]
    try_jobs.watch(gateway=try_cluster)
    assert free_lanes() == {"cpu": 1}


@pytest.mark.django_db
def test_a_cluster_that_is_away_fails_the_try_and_frees_its_lane_when_it_is_back(
    trial: Try, try_cluster: TryCluster
) -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    try_cluster.is_away = True
    assert not try_jobs.launch(try_id=trial.pk, gateway=try_cluster)
    assert state(trial) == (TryState.FAILED, "the job could not be submitted: no Ray")
    try_jobs.watch(gateway=try_cluster)
    assert tries_with_lanes() == [trial.pk], "nobody knows yet whether the job arrived"
    try_cluster.is_away = False
    try_jobs.watch(gateway=try_cluster)
    assert tries_with_lanes() == []


@pytest.mark.django_db
def test_limits_are_told_for_what_was_waited_for(trial: Try) -> None:
    trial.deadline = timezone.now() - timedelta(seconds=1)
    assert tries.current_state(trial)[1].startswith("no lane was free for 60 minutes")
    trial.code_hash = "launched"
    assert tries.current_state(trial)[1].startswith("the cluster did not answer within 10 minutes")


@pytest.mark.django_db(transaction=True)
def test_of_two_launches_at_once_one_submits_and_one_lane_is_held(trial: Try, try_cluster: TryCluster) -> None:
    ensure_local_lanes(num_cpu_lanes=2)
    answers: list[bool] = []

    def launch() -> None:
        try:
            answers.append(try_jobs.launch(try_id=trial.pk, gateway=try_cluster))
        finally:
            connection.close()

    threads = [threading.Thread(target=launch) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False, True]
    assert Lane.objects.exclude(try_id=None).count() == 1
