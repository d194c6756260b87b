"""A preview's job: on a lane of its own, launched once, looked after until the lane is free again."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, Pool
from fleet.selectors import free_lanes, previews_with_lanes
from fleet.services import allocate
from gallery import preview_jobs, previews
from gallery.models import Preview, PreviewState
from runs.cluster import JobStatus
from runs.models import Run
from tests.web.fake_cluster import FakeCluster
from tests.web.lane_holders import held_by
from worker.contracts.lanes import LaneSpec


@pytest.fixture
def launched(preview: Preview, preview_cluster: FakeCluster) -> Preview:
    """On a pool of one CPU lane."""
    ensure_local_lanes(num_cpu_lanes=1)
    assert preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster)
    return Preview.objects.get(pk=preview.pk)


def state(preview: Preview) -> tuple[PreviewState, str]:
    return previews.current_state(Preview.objects.get(pk=preview.pk))


@pytest.mark.django_db
def test_a_preview_is_submitted_once_with_a_code_and_no_token(launched: Preview, preview_cluster: FakeCluster) -> None:
    assert not preview_jobs.launch(preview_id=launched.pk, gateway=preview_cluster)
    (name,) = preview_cluster.jobs
    assert name == f"tandem-preview-{launched.pk}"
    assert preview_cluster.entrypoints[name] == "python -P -m worker.engine.preview"
    assert set(preview_cluster.envs[name]) == {"TANDEM_BOOTSTRAP_CODE", "TANDEM_PUBLIC_URL"}


@pytest.mark.django_db
def test_where_the_pool_has_gpus_a_preview_gets_one_and_its_job_occupies_it(
    preview: Preview, preview_cluster: FakeCluster
) -> None:
    ensure_local_lanes(num_cpu_lanes=2, gpu_indices=range(2))
    assert preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster)
    lane = preview_cluster.lanes[preview_jobs.job_name(preview.pk)]
    assert lane is not None
    assert (lane.node, lane.device, lane.resources) == ("local", "0", ("tandem-local-gpu-0",))
    assert free_lanes() == {"cpu": 2, "gpu": 1}
    assert (
        previews.trade_code(preview_cluster.envs[preview_jobs.job_name(preview.pk)]["TANDEM_BOOTSTRAP_CODE"]).device
        == "0"
    )


@pytest.mark.django_db
def test_a_preview_is_drawn_in_its_runs_pool_and_in_the_default_one_where_that_was_removed(
    preview: Preview, preview_cluster: FakeCluster
) -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    Run.objects.filter(pk=preview.run_id).update(pool="fast")
    pool = Pool.objects.create(name="fast", order=1, match_labels={"model": "h100"})
    assert not preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster)
    pool.delete()
    assert preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster)


@pytest.mark.django_db
def test_a_preview_without_a_free_lane_waits_and_says_so(
    preview: Preview, preview_cluster: FakeCluster, run: Run
) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    wanted = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1)
    assert allocate(holder=held_by(run.pk, 1), wanted=wanted) is not None
    assert preview_jobs.may_have_work()
    preview_jobs.watch(gateway=preview_cluster)
    assert (preview_cluster.jobs, state(preview)) == ({}, (PreviewState.QUEUED, "waits for a free lane"))
    ensure_local_lanes(num_cpu_lanes=4)
    preview_jobs.watch(gateway=preview_cluster)
    assert len(preview_cluster.jobs) == 1
    assert state(preview) == (PreviewState.QUEUED, "")


@pytest.mark.django_db
def test_previews_that_wait_are_launched_oldest_first(trained: Run, alice: User, preview_cluster: FakeCluster) -> None:
    older, newer = (previews.request_preview(user=alice, run=trained, prompts=[text]) for text in ("older", "newer"))
    ensure_local_lanes(num_cpu_lanes=1)
    preview_jobs.watch(gateway=preview_cluster)
    assert previews_with_lanes() == [older.pk]
    Preview.objects.filter(pk=older.pk).update(state=PreviewState.DONE)
    preview_cluster.jobs[preview_jobs.job_name(older.pk)] = JobStatus.SUCCEEDED
    preview_jobs.watch(gateway=preview_cluster)
    assert previews_with_lanes() == [newer.pk]


@pytest.mark.django_db
def test_a_lane_is_freed_when_the_job_is_over_and_not_before(launched: Preview, preview_cluster: FakeCluster) -> None:
    name = preview_jobs.job_name(launched.pk)
    preview_jobs.watch(gateway=preview_cluster)
    assert (previews_with_lanes(), preview_cluster.stopped) == ([launched.pk], [])
    previews.end(launched.pk, "")
    preview_jobs.watch(gateway=preview_cluster)
    assert (previews_with_lanes(), preview_cluster.stopped) == ([launched.pk], [name]), "it may still be there"
    assert preview_jobs.may_have_work()
    preview_jobs.watch(gateway=preview_cluster)
    assert not preview_jobs.may_have_work()
    assert (previews_with_lanes(), free_lanes()) == ([], {"cpu": 1})
    assert state(launched) == (PreviewState.DONE, "")


@pytest.mark.django_db
def test_a_job_that_ends_without_a_report_fails_its_preview_with_its_last_line(
    launched: Preview, preview_cluster: FakeCluster
) -> None:
    preview_cluster.jobs[preview_jobs.job_name(launched.pk)] = JobStatus.FAILED
    preview_cluster.logs = "Traceback …\nModuleNotFoundError: no torch"
    preview_jobs.watch(gateway=preview_cluster)
    assert state(launched) == (
        PreviewState.FAILED,
        "the job failed before it was done: ModuleNotFoundError: no torch",
    )
    assert free_lanes() == {"cpu": 1}


@pytest.mark.django_db
def test_a_job_that_the_cluster_does_not_know_yet_gets_time_to_arrive(
    launched: Preview, preview_cluster: FakeCluster
) -> None:
    preview_cluster.jobs.clear()
    preview_jobs.watch(gateway=preview_cluster)
    assert state(launched)[0] is PreviewState.QUEUED
    Preview.objects.update(deadline=timezone.now() + previews.TIME_LIMIT - timedelta(seconds=31))
    preview_jobs.watch(gateway=preview_cluster)
    assert (state(launched)[0], free_lanes()) == (PreviewState.FAILED, {"cpu": 1})


@pytest.mark.django_db
def test_the_job_of_an_overdue_or_deleted_preview_is_stopped(launched: Preview, preview_cluster: FakeCluster) -> None:
    Preview.objects.all().delete()
    preview_jobs.watch(gateway=preview_cluster)
    assert preview_cluster.stopped == [preview_jobs.job_name(launched.pk)]
    preview_jobs.watch(gateway=preview_cluster)
    assert free_lanes() == {"cpu": 1}


@pytest.mark.django_db
def test_a_cluster_that_is_away_fails_the_preview_and_frees_its_lane_when_it_is_back(
    preview: Preview, preview_cluster: FakeCluster
) -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    preview_cluster.away = True
    assert not preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster)
    assert state(preview) == (PreviewState.FAILED, "the job could not be submitted: Ray could not be reached")
    preview_jobs.watch(gateway=preview_cluster)
    assert previews_with_lanes() == [preview.pk], "nobody knows yet whether the job arrived"
    preview_cluster.away = False
    preview_jobs.watch(gateway=preview_cluster)
    assert previews_with_lanes() == []


@pytest.mark.django_db
def test_an_exceeded_limit_names_what_was_waited_for(preview: Preview) -> None:
    preview.deadline = timezone.now() - timedelta(seconds=1)
    assert previews.current_state(preview)[1].startswith("no lane was free for 60 minutes")
    preview.code_hash = "launched"
    assert previews.current_state(preview)[1].startswith("the cluster did not answer within 10 minutes")


@pytest.mark.django_db(transaction=True)
def test_of_two_launches_at_once_one_submits_and_one_lane_is_held(
    preview: Preview, preview_cluster: FakeCluster
) -> None:
    ensure_local_lanes(num_cpu_lanes=2)
    answers: list[bool] = []

    def launch() -> None:
        try:
            answers.append(preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster))
        finally:
            connection.close()

    threads = [threading.Thread(target=launch) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False, True]
    assert Lane.objects.exclude(preview_id=None).count() == 1
