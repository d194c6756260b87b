"""What the job of a test is told, which of its reports count, and which GPUs a test may be with."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from fleet.health.gpu_test_lanes import claim, obstacle, peers_of
from fleet.health.gpu_test_reports import CODE_LIFETIME, GpuTestOver, GpuTestRefused, authorise, take, trade_code
from fleet.health.gpu_tests import end_test, request_test
from fleet.models import Gpu, GpuTest, Lane, Node, ServiceState
from fleet.selectors import free_lanes
from fleet.services import allocate, release, release_test
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.lane_holders import held_by
from worker.contracts.gpu_tests import GpuTestReport, GpuTestStep, GpuTestStepName, StepOutcome
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import ModelFamily
from worker.contracts.node_reports import GpuTopology

pytestmark = pytest.mark.django_db
CODE = "the code"


def step(name: GpuTestStepName, outcome: StepOutcome = StepOutcome.PASSED, detail: str = "") -> GpuTestStep:
    return GpuTestStep(name=name, outcome=outcome, seconds=1.0, detail=detail)


ALL = tuple(step(name) for name in GpuTestStepName)


@pytest.fixture
def gpus() -> list[Gpu]:
    """Three cards of one node."""
    post_node(alive("gpu0"), *(card(f"GPU-{name}", index) for index, name in enumerate("abc")))
    return list(Gpu.objects.select_related("node", "lane").order_by("index"))


@pytest.fixture
def queued(gpus: list[Gpu]) -> GpuTest:
    """A test of the first card."""
    return request_test(gpus[0], by="pool-admin", reason="to be sure")


@pytest.fixture
def running(queued: GpuTest) -> GpuTest:
    assert claim(queued.pk, CODE) is not None
    queued.refresh_from_db()
    return queued


def token_of(test: GpuTest) -> str:
    return trade_code(f"{test.pk}.{CODE}").token


# --- what the job is told -------------------------------------------------------------------------------------------


def test_the_job_is_told_its_gpu_its_peer_and_a_small_model(running: GpuTest) -> None:
    job = trade_code(f"{running.pk}.{CODE}")
    assert (job.test, job.device, job.uuid, job.peer) == (running.pk, "GPU-a", "GPU-a", "GPU-b")
    assert job.base_model_path.endswith("/shapes") and job.base_model_family is ModelFamily.FLUX


def test_where_no_model_is_small_enough_none_is_named(running: GpuTest, settings: Settings) -> None:
    settings.TANDEM_MODEL_ROOTS = []
    job = trade_code(f"{running.pk}.{CODE}")
    assert (job.base_model_path, job.base_model_family) == ("", None)


def test_a_code_is_good_once_and_for_five_minutes(running: GpuTest) -> None:
    token_of(running)
    with pytest.raises(GpuTestRefused, match="good once"):
        token_of(running)
    GpuTest.objects.update(code_used_at=None, code_expires_at=timezone.now() - CODE_LIFETIME)
    with pytest.raises(GpuTestRefused, match="has expired"):
        token_of(running)


@pytest.mark.parametrize("code", ["", "x", "x.y", f"00000000-0000-4000-8000-000000000000.{CODE}", "\0", "9" * 10_000])
def test_a_code_that_is_none_is_refused(running: GpuTest, code: str) -> None:
    for wrong in (code, f"{running.pk}.{code}"):
        with pytest.raises(GpuTestRefused):
            trade_code(wrong)


def test_a_queued_test_has_no_code(queued: GpuTest) -> None:
    with pytest.raises(GpuTestRefused):
        trade_code(f"{queued.pk}.")


def test_a_token_is_good_for_its_own_test_until_it_has_ended(running: GpuTest) -> None:
    token = token_of(running)
    assert authorise(running.pk, token).pk == running.pk
    for wrong in ("", "x"):
        with pytest.raises(GpuTestRefused):
            authorise(running.pk, wrong)
    with pytest.raises(GpuTestRefused):
        authorise(uuid.uuid4(), token)
    end_test(running, ())
    with pytest.raises(GpuTestOver, match="passed"):
        authorise(running.pk, token)


# --- what it reports ------------------------------------------------------------------------------------------------


def test_steps_are_stored_as_they_come_and_the_last_report_returns_the_gpu(running: GpuTest) -> None:
    take(running, GpuTestReport(steps=ALL[:2], is_final=False))
    running.refresh_from_db()
    assert ([each["name"] for each in running.steps], running.state) == (["device", "matrix_product"], "running")
    take(running, GpuTestReport(steps=ALL, is_final=True))
    running.refresh_from_db()
    assert (len(running.steps), running.state, running.reason) == (5, "passed", "")
    assert Gpu.objects.get(uuid="GPU-a").state == "active"
    with pytest.raises(GpuTestOver):
        take(running, GpuTestReport(steps=ALL, is_final=False))


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((), "the test ended without device, matrix_product, memory_sweep"),
        ((ALL[0], step(GpuTestStepName.MATRIX_PRODUCT, StepOutcome.SKIPPED), *ALL[2:]), "without matrix_product"),
        ((*ALL[:4], step(GpuTestStepName.ALL_REDUCE, StepOutcome.FAILED, "it hung")), "all_reduce: it hung"),
    ],
)
def test_a_gpu_returns_by_steps_that_passed_only(running: GpuTest, steps: tuple[GpuTestStep, ...], said: str) -> None:
    take(running, GpuTestReport(steps=steps, is_final=True))
    gpu = Gpu.objects.get(uuid="GPU-a")
    assert (gpu.state, GpuTest.objects.get().state) == ("faulty", "failed")
    assert said in gpu.reason


def test_steps_that_need_what_is_not_there_may_be_skipped(running: GpuTest) -> None:
    skipped = [step(name, StepOutcome.SKIPPED) for name in (GpuTestStepName.ENGINE, GpuTestStepName.ALL_REDUCE)]
    take(running, GpuTestReport(steps=(*ALL[:3], *skipped), is_final=True))
    assert Gpu.objects.get(uuid="GPU-a").state == "active"


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ({"xids": {95: 1}}, {"xids": {95: 1}}, "active"),
        ({"xids": {95: 1}}, {"xids": {95: 2}}, "faulty"),
        ({}, {"xids": {48: 1}}, "faulty"),
        ({}, {"xids": {45: 900}}, "active"),
        ({"remap_failed": True}, {"remap_failed": True}, "faulty"),
    ],
)
def test_a_fault_that_comes_during_the_test_fails_it(before: dict[str, Any], after: dict[str, Any], state: str) -> None:
    post_node(alive("gpu0"), card("GPU-a", 0, **before))
    test = request_test(Gpu.objects.get(), by="pool-admin", reason="to be sure")
    assert claim(test.pk, CODE) is not None
    post_node(alive("gpu0"), card("GPU-a", 0, **after))
    take(test, GpuTestReport(steps=ALL, is_final=True))
    assert Gpu.objects.get().state == state


# --- what a test waits for, and its peers ---------------------------------------------------------------------------


def test_a_test_waits_for_the_run_on_its_lane(gpus: list[Gpu]) -> None:
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=LaneSpec()) is not None
    test = request_test(gpus[0], by="pool-admin", reason="to be sure")
    assert claim(test.pk, CODE) is None
    test.refresh_from_db()
    assert (test.state, test.reason) == ("queued", "waits until the run on its lane has ended")
    release(run_id=run_id, attempt=1)
    assert claim(test.pk, CODE) is not None


@pytest.mark.parametrize(
    ("rows", "values", "said"),
    [
        (Node, {"lost_since": timezone.now()}, "until its node can be reached"),
        (Gpu, {"lost_since": timezone.now()}, "until its driver reaches the GPU"),
        (Node, {"state": ServiceState.MAINTENANCE}, "until the maintenance of its node ends"),
        (Node, {"are_gpus_held": False}, "until no other program on Ray uses GPUs"),
        (Gpu, {"lane": None}, "for a lane"),
    ],
)
def test_a_test_waits_until_its_gpu_can_be_used(
    queued: GpuTest, rows: type[Node] | type[Gpu], values: dict[str, object], said: str
) -> None:
    rows.objects.update(**values)
    assert claim(queued.pk, CODE) is None
    queued.refresh_from_db()
    assert said in queued.reason
    assert not Lane.objects.exclude(held_since=None).exists()


@pytest.mark.parametrize("state", [ServiceState.CORDONED, ServiceState.DRAINING])
def test_on_a_node_that_takes_no_work_tests_go_on(queued: GpuTest, state: ServiceState) -> None:
    Node.objects.update(state=state)
    assert claim(queued.pk, CODE) is not None


def test_tests_of_one_node_follow_one_another_and_the_first_is_the_others_peer(gpus: list[Gpu]) -> None:
    """As after the maintenance of a node."""
    tests = [request_test(gpu, by="pool-admin", reason="new fans") for gpu in gpus]
    peers = []
    for test in tests:
        assert claim(test.pk, CODE) is not None
        for other in tests:
            assert claim(other.pk, CODE) is None
        take(test, GpuTestReport(steps=ALL, is_final=True))
        assert claim(tests[-1].pk, CODE) is None, "its job may still be there"
        release_test(test.pk)
        test.refresh_from_db()
        peers.append(test.peer and test.peer.uuid)
    assert peers == [None, "GPU-a", "GPU-b"]


def test_no_run_is_placed_on_a_peer_and_a_busy_gpu_is_none(running: GpuTest) -> None:
    assert free_lanes() == {"gpu": 1, "cpu": 2}
    release_test(running.pk)
    assert free_lanes() == {"gpu": 2, "cpu": 2}, "the GPU that is tested takes no work yet"


def test_peers_are_linked_of_the_same_model_and_near(gpus: list[Gpu]) -> None:
    first, second, third = gpus
    assert [peer.uuid for peer in peers_of(first)] == ["GPU-b", "GPU-c"]
    Gpu.objects.filter(pk=second.pk).update(accelerator="L40S")
    assert [peer.uuid for peer in peers_of(first)] == ["GPU-c", "GPU-b"]
    first.topology = GpuTopology(nvlink_peers=("GPU-b",)).model_dump(mode="json")
    assert [peer.uuid for peer in peers_of(first)] == ["GPU-b", "GPU-c"]
    Gpu.objects.filter(pk=second.pk).update(state=ServiceState.CORDONED)
    Gpu.objects.filter(pk=third.pk).update(lost_since=timezone.now())
    assert list(peers_of(first)) == []


def test_a_mig_slice_has_no_peer_and_is_none() -> None:
    post_node(alive("gpu0"), card("GPU-a", 0), card("MIG-1", 1, parent_uuid="GPU-b"), card("GPU-c", 2))
    whole, cut, other = Gpu.objects.order_by("index")
    assert list(peers_of(cut)) == []
    assert list(peers_of(whole)) == [other]


def test_the_other_gpu_of_a_lane_of_two_is_the_peer(gpus: list[Gpu]) -> None:
    first, second, third = gpus
    Gpu.objects.filter(pk=second.pk).update(lane=first.lane)
    Gpu.objects.filter(pk=third.pk).update(state=ServiceState.CORDONED)
    test = request_test(first, by="pool-admin", reason="to be sure")
    lane = claim(test.pk, CODE)
    assert lane is not None
    assert (lane.device, trade_code(f"{test.pk}.{CODE}").peer) == ("GPU-a", "GPU-b")
    assert release_test(test.pk) == 1


def test_the_job_occupies_rays_resources_of_both_gpus() -> None:
    post_node(alive("own", has_gpu_resources=True), card("GPU-a", 0), card("GPU-b", 1))
    test = request_test(Gpu.objects.get(index=0), by="pool-admin", reason="to be sure")
    lane = claim(test.pk, CODE)
    assert lane is not None
    assert (lane.resources, lane.device) == (("tandem-own-gpu-0", "tandem-own-gpu-1"), "GPU-a")


def test_a_lane_is_held_by_one_holder_alone(running: GpuTest) -> None:
    """The database says so too."""
    held = Lane.objects.filter(test_id=running.pk)
    for values in ({"run_id": uuid.uuid4()}, {"attempt": 1}, {"test_id": None}, {"held_since": None}):
        with pytest.raises(IntegrityError), transaction.atomic():
            held.update(**values)
    assert obstacle(running.gpu) == "waits until another test on its node has ended"
    assert timedelta() < timezone.now() - held[0].held_since  # type: ignore[operator]
