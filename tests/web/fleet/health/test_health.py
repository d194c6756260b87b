"""A GPU that fails goes out of service by itself, alone, and comes back by a test only."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts.models import User
from fleet.health.gpu_health import THROTTLE_KEPT
from fleet.health.gpu_tests import end_test, request_test
from fleet.health.upkeep import PoolAction, act, end_maintenance
from fleet.models import Gpu, GpuTest, HealthChange, Lane, LaneKind, Node, StateChange
from fleet.selectors import free_lanes
from fleet.services import allocate
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.lane_holders import held_by
from worker.contracts.gpu_tests import GpuTestStep, GpuTestStepName, StepOutcome
from worker.contracts.lanes import LaneSpec

pytestmark = pytest.mark.django_db
PASSED = GpuTestStep(name=GpuTestStepName.MATRIX_PRODUCT, outcome=StepOutcome.PASSED, seconds=1.0)
WRONG = GpuTestStep(
    name=GpuTestStepName.MEMORY_SWEEP, outcome=StepOutcome.FAILED, seconds=2.0, detail="3 words of 10 were read wrongly"
)


def reported(**faults: Any) -> Gpu:
    """The second of two cards, after a report of these faults."""
    post_node(alive("gpu0"), card("GPU-a", 0), card("GPU-b", 1, **faults))
    return Gpu.objects.get(uuid="GPU-b")


def test_a_card_that_fails_is_taken_out_alone_and_its_run_goes_on() -> None:
    reported()
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=LaneSpec()) is not None
    gpu = reported(xids={48: 1})
    assert (gpu.state, gpu.reason, gpu.changed_by) == ("faulty", "Xid 48: double-bit error in memory", "health")
    assert (gpu.health, gpu.remedy) == ("failed", "reset the GPU")
    assert Gpu.objects.get(uuid="GPU-a").state == Node.objects.get().state == "active"
    assert Lane.objects.filter(run_id=run_id).count() == 3
    (change,) = HealthChange.objects.all()
    assert (change.run_id, change.faults["xids"]) == (run_id, {"48": 1})


def test_a_card_that_warns_works_on() -> None:
    gpu = reported(remap_pending=True)
    assert (gpu.state, gpu.health, gpu.health_causes) == ("active", "warning", ["bad rows of memory wait for a reset"])
    assert free_lanes()[LaneKind.GPU] == 2


def test_a_storm_of_xid_45_changes_nothing() -> None:
    for count in (1, 500, 11_760):
        gpu = reported(xids={45: count})
    assert (gpu.state, gpu.health) == ("active", "healthy")
    assert not HealthChange.objects.exists()


def test_what_does_not_change_is_said_once() -> None:
    for count in (1, 2, 3):
        reported(xids={94: count})
    assert HealthChange.objects.count() == 1


def test_clocks_that_go_to_and_fro_are_one_warning_until_they_were_well_for_long() -> None:
    for reasons in (("hardware thermal slowdown",), (), ("hardware thermal slowdown",), ()):
        gpu = reported(throttle_reasons=reasons)
    assert (gpu.health, HealthChange.objects.count()) == ("warning", 1)
    Gpu.objects.update(throttled_at=timezone.now() - 2 * THROTTLE_KEPT)
    assert reported().health == "healthy"


def test_readings_that_get_better_put_no_card_back_but_a_test_does(admin: User) -> None:
    reported(xids={95: 1})
    gpu = reported()
    assert (gpu.state, gpu.health) == ("faulty", "healthy")
    reported(xids={95: 1})
    act(user=admin, on=gpu, action=PoolAction.RESUME)
    assert gpu.state == "awaiting_test"
    assert free_lanes()[LaneKind.GPU] == 1
    assert end_test(GpuTest.objects.get(), [PASSED])
    assert free_lanes()[LaneKind.GPU] == 2
    gpu = reported(xids={95: 1})
    assert (gpu.state, gpu.health) == ("active", "healthy"), "what was counted before is dealt with"
    assert reported(xids={95: 2}).state == "faulty"


def test_a_test_that_fails_leaves_the_card_out_with_what_went_wrong(admin: User) -> None:
    gpu = reported(is_lost=True)
    act(user=admin, on=gpu, action=PoolAction.RESUME)
    test = GpuTest.objects.get()
    assert end_test(test, [PASSED, WRONG])
    assert not end_test(test, [PASSED]), "it has ended"
    gpu.refresh_from_db()
    assert (gpu.state, gpu.reason) == ("faulty", "memory_sweep: 3 words of 10 were read wrongly")


def test_a_card_that_is_tested_cannot_be_returned_by_hand(admin: User) -> None:
    gpu = reported()
    request_test(gpu, by="pool-admin", reason="to be sure")
    request_test(gpu, by="pool-admin", reason="to be sure")
    assert GpuTest.objects.count() == 1
    with pytest.raises(ValidationError, match="once its test has passed"):
        act(user=admin, on=gpu, action=PoolAction.RESUME)


def test_what_an_admin_decides_during_a_test_stands(admin: User) -> None:
    gpu = reported()
    test = request_test(gpu, by="pool-admin", reason="to be sure")
    act(user=admin, on=gpu, action=PoolAction.CORDON, reason="it smells")
    end_test(test, [PASSED])
    gpu.refresh_from_db()
    assert (gpu.state, gpu.reason) == ("cordoned", "it smells")


@pytest.mark.parametrize("before", ["fault", "maintenance", "test"])
@pytest.mark.parametrize("on_top", [PoolAction.CORDON, PoolAction.DRAIN])
def test_a_cordon_on_top_is_no_way_around_the_test(admin: User, before: str, on_top: PoolAction) -> None:
    gpu = reported(xids={48: 1}) if before == "fault" else reported()
    if before == "maintenance":
        act(user=admin, on=gpu, action=PoolAction.MAINTENANCE, reason="new fans")
    if before == "test":
        end_test(request_test(gpu, by="pool-admin", reason="to be sure"), [WRONG])
    act(user=admin, on=gpu, action=on_top, reason="it smells")
    act(user=admin, on=gpu, action=PoolAction.RESUME)
    assert gpu.state == "awaiting_test"
    end_test(GpuTest.objects.get(ended_at=None), [PASSED])
    gpu.refresh_from_db()
    assert gpu.state == "active"
    act(user=admin, on=gpu, action=on_top, reason="it smells")
    act(user=admin, on=gpu, action=PoolAction.RESUME)
    assert gpu.state == "active", "what was before has been dealt with"


def test_maintenance_of_a_node_counts_under_a_cordon_too(admin: User) -> None:
    reported()
    node = Node.objects.get()
    act(user=admin, on=node, action=PoolAction.MAINTENANCE, reason="new fans")
    act(user=admin, on=node, action=PoolAction.CORDON, reason="not yet")
    act(user=admin, on=node, action=PoolAction.RESUME)
    assert set(Gpu.objects.values_list("state", flat=True)) == {"awaiting_test"}


def test_maintenance_ends_at_its_time_and_the_gpus_are_tested(admin: User) -> None:
    reported()
    node = Node.objects.get()
    later = timezone.now() + timedelta(hours=2)
    act(user=admin, on=node, action=PoolAction.MAINTENANCE, reason="new fans", until=later)
    assert (free_lanes(), end_maintenance()) == ({}, 0)
    Node.objects.update(state_until=timezone.now())
    assert end_maintenance() == 1
    assert free_lanes() == {"cpu": 2}
    assert set(Gpu.objects.values_list("state", flat=True)) == {"awaiting_test"}
    assert StateChange.objects.filter(by="maintenance calendar", node=node, gpu=None).count() == 1
    for test in GpuTest.objects.all():
        end_test(test, [PASSED])
    assert free_lanes() == {"gpu": 2, "cpu": 2}


@pytest.mark.parametrize(
    ("action", "until", "said"),
    [
        (PoolAction.MAINTENANCE, timedelta(hours=-1), "in the future"),
        (PoolAction.CORDON, timedelta(hours=1), "maintenance and drain only"),
    ],
)
def test_a_time_that_makes_no_sense_is_refused(admin: User, action: PoolAction, until: timedelta, said: str) -> None:
    gpu = reported()
    with pytest.raises(ValidationError, match=said):
        act(user=admin, on=gpu, action=action, reason="x", until=timezone.now() + until)
