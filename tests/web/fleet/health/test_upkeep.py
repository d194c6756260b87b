"""Cordon, drain and resume: by pool admins, with a reason, and never at the cost of what runs."""

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from accounts.models import User
from audit.models import AuditEntry
from fleet.health.upkeep import PoolAction, act, act_on_all
from fleet.lane_layout import NOT_OFFERED, ensure_local_lanes
from fleet.models import Gpu, Lane, Node, ServiceState, StateChange
from fleet.selectors import free_lanes
from fleet.services import allocate
from tests.web.lane_holders import held_by
from worker.contracts.lanes import LaneSpec

pytestmark = pytest.mark.django_db
THREE = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1)


@pytest.fixture
def node() -> Node:
    ensure_local_lanes(num_cpu_lanes=6)
    return Node.objects.get()


@pytest.mark.parametrize("action", [PoolAction.CORDON, PoolAction.DRAIN])
def test_a_cordoned_node_keeps_its_runs_and_takes_nothing_new(admin: User, node: Node, action: PoolAction) -> None:
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=THREE) is not None
    act(user=admin, on=node, action=action, reason=" new cables ")
    assert (node.reason, node.changed_by) == ("new cables", "pool-admin")
    assert Lane.objects.filter(run_id=run_id).count() == 3
    assert allocate(holder=held_by(uuid.uuid4(), 1), wanted=THREE) is None
    act(user=admin, on=node, action=PoolAction.RESUME)
    assert (node.state, node.reason, node.changed_by) == (ServiceState.ACTIVE, "", "pool-admin")
    assert free_lanes() == {"cpu": 3}


def test_a_lane_is_cordoned_alone_and_stays_so_when_the_node_starts_again(admin: User, node: Node) -> None:
    lane = Lane.objects.get(index=2)
    act(user=admin, on=lane, action=PoolAction.CORDON, reason="too hot")
    ensure_local_lanes(num_cpu_lanes=6)
    assert free_lanes() == {"cpu": 5}
    act(user=admin, on=lane, action=PoolAction.RESUME)
    assert free_lanes() == {"cpu": 6}


def test_a_surplus_lane_is_usable_again_once_its_node_offers_it(node: Node) -> None:
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=THREE) is not None
    ensure_local_lanes(num_cpu_lanes=1)
    assert set(Lane.objects.filter(index__gte=1).values_list("state", "reason")) == {("cordoned", NOT_OFFERED)}
    ensure_local_lanes(num_cpu_lanes=6)
    assert not Lane.objects.exclude(state=ServiceState.ACTIVE).exists()


def test_one_gpu_is_cordoned_and_its_neighbours_go_on(admin: User) -> None:
    ensure_local_lanes(num_cpu_lanes=1, gpu_indices=range(3))
    gpu = Gpu.objects.get(index=1)
    act(user=admin, on=gpu, action=PoolAction.CORDON, reason="Xid 79")
    assert free_lanes() == {"gpu": 2, "cpu": 1}
    act(user=admin, on=gpu, action=PoolAction.RESUME)
    assert free_lanes() == {"gpu": 3, "cpu": 1}


def test_every_change_is_kept_with_who_and_why_and_a_repeat_is_none(admin: User, node: Node) -> None:
    for _ in range(2):
        act(user=admin, on=node, action=PoolAction.DRAIN, reason="new fans")
    act(user=admin, on=node, action=PoolAction.RESUME)
    history = [(change.name, change.old, change.new, change.reason, change.by) for change in StateChange.objects.all()]
    assert history == [
        ("local", "draining", "active", "", "pool-admin"),
        ("local", "active", "draining", "new fans", "pool-admin"),
    ]


def test_only_pool_admins_keep_back_and_only_with_a_reason(admin: User, alice: User, node: Node) -> None:
    with pytest.raises(PermissionDenied, match="pool admin"):
        act(user=alice, on=node, action=PoolAction.CORDON, reason="mine")
    with pytest.raises(ValidationError, match="reason"):
        act(user=admin, on=node, action=PoolAction.DRAIN, reason="  ")
    with pytest.raises(ValidationError, match="cordon or resume"):
        act(user=admin, on=Lane.objects.all()[0], action=PoolAction.DRAIN, reason="x")


def test_one_action_concerns_all_or_none_and_says_which_nodes(admin: User, alice: User) -> None:
    ensure_local_lanes(num_cpu_lanes=2, gpu_indices=range(3))
    gpus = list(Gpu.objects.values_list("pk", flat=True))
    lanes = list(Lane.objects.filter(kind="cpu").values_list("pk", flat=True))
    with pytest.raises(ValidationError, match="got \\[99999\\]"):
        act_on_all(user=admin, gpus=gpus, lanes=[*lanes, 99999], action=PoolAction.CORDON, reason="x")
    with pytest.raises(PermissionDenied):
        act_on_all(user=alice, gpus=gpus, action=PoolAction.CORDON, reason="x")
    assert not StateChange.objects.exists()
    concerned = act_on_all(user=admin, gpus=gpus[:2], lanes=lanes, action=PoolAction.CORDON, reason="x")
    assert concerned == {Node.objects.get().pk}
    assert free_lanes() == {"gpu": 1}
    assert AuditEntry.objects.filter(action="gpu.cordon").count() == 2


def test_many_are_cordoned_with_as_many_statements_as_a_few_and_each_with_its_history(
    admin: User, django_assert_max_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    ensure_local_lanes(num_cpu_lanes=1, gpu_indices=range(12))
    gpus = list(Gpu.objects.values_list("pk", flat=True))
    act_on_all(user=admin, gpus=gpus[:2], action=PoolAction.CORDON, reason="hot")
    # One row of the audit log for each, and a handful for all of them.
    with django_assert_max_num_queries(len(gpus) + 15):
        act_on_all(user=admin, gpus=gpus, action=PoolAction.CORDON, reason="hot")
    assert set(Gpu.objects.values_list("state", "reason", "changed_by")) == {("cordoned", "hot", "pool-admin")}
    assert sorted(StateChange.objects.values_list("gpu", flat=True)) == sorted(gpus)
    assert AuditEntry.objects.filter(action="gpu.cordon").count() == len(gpus)
    act_on_all(user=admin, gpus=gpus, action=PoolAction.RESUME)
    assert free_lanes() == {"gpu": 12, "cpu": 1}
