"""The job of a test of a GPU: submitted once its lane is free, looked after until both lanes are free again."""

from contextlib import suppress
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase as DjangoTestCase

from accounts.models import User
from fleet.health.gpu_test_reports import GpuTestOver, GpuTestRefused, authorise, take, trade_code
from fleet.health.gpu_tests import MAX_REPEATS, request_test
from fleet.health.upkeep import PoolAction, act
from fleet.models import Gpu, GpuTest, Lane, LaneUse, Node, ServiceState
from fleet.selectors import free_lanes, gpu_tests_with_lanes
from fleet.states.state_changes import change_state
from runs.cluster import JobStatus
from runs.pool import gpu_test_jobs as jobs
from tests.slow_params import examples
from tests.web.fake_cluster import FakeCluster
from tests.web.fleet.node_posts import alive, card, post_node
from worker.contracts.gpu_tests import GpuTestReport, GpuTestStep, GpuTestStepName, StepOutcome

PASSED = tuple(GpuTestStep(name=name, outcome=StepOutcome.PASSED, seconds=1.0) for name in GpuTestStepName)
FAILED = (
    *PASSED[:2],
    GpuTestStep(name=GpuTestStepName.MEMORY_SWEEP, outcome=StepOutcome.FAILED, seconds=1.0, detail="1 word"),
)


def make_gpus() -> Gpu:
    """The first of two cards of a node."""
    post_node(alive("gpu0"), card("GPU-a", 0), card("GPU-b", 1))
    return Gpu.objects.get(uuid="GPU-a")


def code_of(test: GpuTest, cluster: FakeCluster) -> str:
    return cluster.envs[jobs.job_name(test.pk)]["TANDEM_BOOTSTRAP_CODE"]


def report(test: GpuTest, cluster: FakeCluster, *steps: GpuTestStep, is_final: bool = True) -> None:
    """What the job does: trade its code, and post one report."""
    token = trade_code(code_of(test, cluster)).token
    take(authorise(test.pk, token), GpuTestReport(steps=steps, is_final=is_final))


@pytest.fixture
def gpu(db: None) -> Gpu:
    return make_gpus()


@pytest.fixture
def running(gpu: Gpu, cluster: FakeCluster) -> GpuTest:
    assert not jobs.may_have_work()
    test = request_test(gpu, by="pool-admin", reason="to be sure")
    assert jobs.may_have_work()
    jobs.watch(gateway=cluster)
    test.refresh_from_db()
    assert test.state == "running"
    return test


def state_of(test: GpuTest) -> tuple[str, str]:
    test.refresh_from_db()
    return test.state, test.reason


def state_of_gpu() -> str:
    return str(Gpu.objects.get(uuid="GPU-a").state)


def test_a_test_is_submitted_once_with_a_code_and_no_token(running: GpuTest, cluster: FakeCluster) -> None:
    jobs.watch(gateway=cluster)
    (name,) = cluster.jobs
    assert name == f"tandem-gpu-test-{running.pk}"
    assert cluster.entrypoints[name] == "python -P -m worker.engine.gpu_test"
    assert set(cluster.envs[name]) == {"TANDEM_BOOTSTRAP_CODE", "TANDEM_PUBLIC_URL"}
    lane = cluster.lanes[name]
    assert lane is not None
    assert (lane.device, lane.ray_node_id, lane.resources) == ("GPU-a", "ray-gpu0", ())
    assert free_lanes() == {"cpu": 2}, "the peer is held too"


def test_a_gpu_that_has_passed_takes_work_once_its_job_is_over(running: GpuTest, cluster: FakeCluster) -> None:
    report(running, cluster, *PASSED)
    assert (state_of(running), state_of_gpu()) == (("passed", ""), "active")
    jobs.watch(gateway=cluster)
    assert free_lanes() == {"cpu": 2}, "the job may still be there, and is stopped"
    assert jobs.may_have_work()
    jobs.watch(gateway=cluster)
    assert not jobs.may_have_work()
    assert (free_lanes(), gpu_tests_with_lanes()) == ({"cpu": 2, "gpu": 2}, [])
    assert LaneUse.objects.exclude(until=None).filter(test_id=running.pk, run_id=None).count() == 2


def test_a_job_that_ends_without_its_last_report_fails_the_gpu_with_its_log(
    running: GpuTest, cluster: FakeCluster
) -> None:
    report(running, cluster, *PASSED[:2], is_final=False)
    cluster.jobs[jobs.job_name(running.pk)] = JobStatus.FAILED
    cluster.logs = "x" * 1000 + "\nCUDA error: an illegal memory access was encountered"
    jobs.watch(gateway=cluster)
    state, reason = state_of(running)
    assert (state, state_of_gpu(), len(running.steps)) == ("failed", "faulty", 2)
    assert reason.startswith("its job failed before its last report: ")
    assert reason.endswith("CUDA error: an illegal memory access was encountered")
    assert free_lanes() == {"cpu": 2, "gpu": 1}


def test_a_job_that_never_began_is_repeated_and_at_last_fails(running: GpuTest, cluster: FakeCluster) -> None:
    for _ in range(MAX_REPEATS):
        (open_test,) = GpuTest.objects.filter(ended_at=None)
        cluster.jobs[jobs.job_name(open_test.pk)] = JobStatus.FAILED
        jobs.watch(gateway=cluster)
        assert state_of_gpu() == "awaiting_test"
    assert GpuTest.objects.count() == 1 + MAX_REPEATS
    (last,) = GpuTest.objects.filter(ended_at=None)
    cluster.jobs[jobs.job_name(last.pk)] = JobStatus.FAILED
    jobs.watch(gateway=cluster)
    assert (state_of_gpu(), GpuTest.objects.filter(ended_at=None).count()) == ("faulty", 0)
    assert free_lanes() == {"cpu": 2, "gpu": 1}
    assert state_of(running) == ("failed", "its job failed before it began: it left no log")


def test_a_job_that_the_cluster_does_not_know_yet_gets_time_to_arrive(running: GpuTest, cluster: FakeCluster) -> None:
    late = code_of(running, cluster)
    cluster.jobs.clear()
    jobs.watch(gateway=cluster)
    assert state_of(running)[0] == "running"
    GpuTest.objects.update(started_at=timezone.now() - jobs.SUBMIT_TIMEOUT)
    jobs.watch(gateway=cluster)
    assert state_of(running) == ("failed", "the cluster does not know its job any more")
    (again,) = GpuTest.objects.filter(state="running")
    assert (again.num_repeats, len(cluster.jobs)) == (1, 1)
    with pytest.raises(GpuTestOver, match="the test is failed"):
        trade_code(late)


def test_a_cluster_that_is_away_frees_nothing_until_it_is_back(gpu: Gpu, cluster: FakeCluster) -> None:
    test = request_test(gpu, by="pool-admin", reason="to be sure")
    cluster.away = True
    jobs.watch(gateway=cluster)
    jobs.watch(gateway=cluster)
    assert (state_of(test)[0], gpu_tests_with_lanes()) == ("running", [test.pk]), "nobody knows whether the job arrived"
    cluster.away = False
    GpuTest.objects.update(started_at=timezone.now() - jobs.SUBMIT_TIMEOUT)
    jobs.watch(gateway=cluster)
    assert GpuTest.objects.get(state="running").num_repeats == 1


def test_a_job_that_does_not_begin_in_time_is_stopped_and_repeated(running: GpuTest, cluster: FakeCluster) -> None:
    cluster.jobs[jobs.job_name(running.pk)] = JobStatus.PENDING
    GpuTest.objects.update(started_at=timezone.now() - timedelta(minutes=6))
    jobs.watch(gateway=cluster)
    assert cluster.stopped == [jobs.job_name(running.pk)]
    assert state_of(running)[0] == "failed"
    (again,) = GpuTest.objects.filter(ended_at=None)
    assert again.state == "queued" and "another test on its node" in again.reason
    jobs.watch(gateway=cluster)
    again.refresh_from_db()
    assert again.state == "running"


def test_a_test_has_twenty_minutes(running: GpuTest, cluster: FakeCluster) -> None:
    report(running, cluster, *PASSED[:1], is_final=False)
    GpuTest.objects.update(started_at=timezone.now() - timedelta(minutes=21))
    jobs.watch(gateway=cluster)
    assert (state_of(running), state_of_gpu()) == (("failed", "it did not end within 20 minutes"), "faulty")
    assert cluster.stopped == [jobs.job_name(running.pk)]


@pytest.mark.parametrize("begun", [False, True])
def test_what_an_admin_decides_meanwhile_stops_the_job(
    running: GpuTest, cluster: FakeCluster, admin: User, begun: bool
) -> None:
    if begun:
        report(running, cluster, *PASSED[:2], is_final=False)
    act(user=admin, on=running.gpu, action=PoolAction.CORDON, reason="it smells")
    jobs.watch(gateway=cluster)
    assert cluster.stopped == [jobs.job_name(running.pk)]
    assert (state_of(running), state_of_gpu()) == (("failed", "its GPU was set to cordoned meanwhile"), "cordoned")
    jobs.watch(gateway=cluster)
    assert (free_lanes(), gpu_tests_with_lanes()) == ({"cpu": 2, "gpu": 1}, [])


def test_a_queued_test_of_a_gpu_that_was_cordoned_ends(gpu: Gpu, cluster: FakeCluster, admin: User) -> None:
    test = request_test(gpu, by="pool-admin", reason="to be sure")
    act(user=admin, on=gpu, action=PoolAction.CORDON, reason="it smells")
    jobs.watch(gateway=cluster)
    assert (state_of(test)[0], cluster.jobs) == ("failed", {})


def test_the_job_of_a_deleted_gpu_is_stopped_and_its_peer_freed(running: GpuTest, cluster: FakeCluster) -> None:
    Gpu.objects.filter(uuid="GPU-a").delete()
    jobs.watch(gateway=cluster)
    jobs.watch(gateway=cluster)
    assert cluster.stopped == [jobs.job_name(running.pk)]
    assert not Lane.objects.exclude(held_since=None).exists()


# --- every path -----------------------------------------------------------------------------------------------------

EVENTS = (
    "trade the code",
    "report steps",
    "report success",
    "report failure",
    "the job fails",
    "the job is gone",
    "stop does nothing",
    "the cluster is away",
    "the cluster is back",
    "six minutes pass",
    "an hour passes",
    "an admin cordons",
    "an admin returns it",
    "the node is lost",
    "the node is back",
    "look",
)


class EveryPath(DjangoTestCase):
    """Hypothesis's own test case, which begins each example with an empty database."""

    @settings(max_examples=examples(20, 60), deadline=None)
    @given(st.lists(st.sampled_from(EVENTS), max_size=14))
    def test_in_the_end_both_lanes_are_free(self, events: list[str]) -> None:
        """Whatever happens: once all is well and the jobs that were stopped are over, nothing is held, no test is
        open, and a GPU takes work if and only if a test of it has passed or an admin has said so."""
        gpu, cluster, tokens = make_gpus(), FakeCluster(), dict[str, str]()
        request_test(gpu, by="pool-admin", reason="to be sure")
        for event in ("look", *events):
            _happen(event, cluster, tokens)
            _check_lanes()
        for event in ("the cluster is back", "the node is back", "an hour passes"):
            _happen(event, cluster, tokens)
        cluster.stubborn = False
        for _ in range(3 * (MAX_REPEATS + 2)):
            jobs.watch(gateway=cluster)
            for name, status in list(cluster.jobs.items()):
                if not status.is_over:
                    cluster.jobs[name] = JobStatus.FAILED
        assert not Lane.objects.exclude(held_since=None).exists()
        assert not LaneUse.objects.filter(until=None).exists()
        assert not GpuTest.objects.filter(ended_at=None).exists()
        has_passed = GpuTest.objects.filter(state="passed").exists()
        assert state_of_gpu() != "awaiting_test"
        assert state_of_gpu() != "active" or has_passed or "an admin returns it" in events


def _check_lanes() -> None:
    """What holds at every moment: lanes are held for one test at a time, and a running test holds its GPU's."""
    held = set(Lane.objects.exclude(test_id=None).values_list("test_id", flat=True))
    assert len(held) <= 1
    running = GpuTest.objects.filter(state="running")
    assert {test.pk for test in running} <= held
    assert all(Lane.objects.filter(test_id=test.pk, gpus=test.gpu).exists() for test in running)


def _happen(event: str, cluster: FakeCluster, tokens: dict[str, str]) -> None:
    newest = GpuTest.objects.order_by("-created_at").first()
    assert newest is not None
    name, gpu = jobs.job_name(newest.pk), Gpu.objects.get(uuid="GPU-a")
    match event:
        case "trade the code":
            if name in cluster.envs:
                with suppress(GpuTestOver, GpuTestRefused):
                    tokens[str(newest.pk)] = trade_code(code_of(newest, cluster)).token
        case "report steps" | "report success" | "report failure":
            steps = {"report steps": PASSED[:2], "report success": PASSED, "report failure": FAILED}[event]
            with suppress(GpuTestOver, GpuTestRefused):
                test = authorise(newest.pk, tokens.get(str(newest.pk), ""))
                take(test, GpuTestReport(steps=steps, is_final=event != "report steps"))
        case "the job fails":
            if name in cluster.jobs:
                cluster.jobs[name] = JobStatus.FAILED
        case "the job is gone":
            cluster.jobs.pop(name, None)
        case "stop does nothing":
            cluster.stubborn = True
        case "the cluster is away" | "the cluster is back":
            cluster.away = event == "the cluster is away"
        case "six minutes pass" | "an hour passes":
            past = timedelta(minutes=6 if event == "six minutes pass" else 60)
            for test in GpuTest.objects.exclude(started_at=None):
                GpuTest.objects.filter(pk=test.pk).update(started_at=test.started_at - past)  # type: ignore[operator]
        case "an admin cordons":
            change_state(gpu, ServiceState.CORDONED, by="admin", reason="it smells")
        case "an admin returns it":
            if gpu.state == ServiceState.FAULTY:
                request_test(gpu, by="admin", reason="tested after a fault")
            elif gpu.state == ServiceState.CORDONED:
                change_state(gpu, ServiceState.ACTIVE, by="admin")
        case "the node is lost" | "the node is back":
            Node.objects.update(lost_since=timezone.now() if event == "the node is lost" else None)
        case "look":
            jobs.watch(gateway=cluster)
