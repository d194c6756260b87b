"""Cordon, drain and resume: by pool admins, with a reason, and never at the cost of what runs."""

import uuid

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from accounts.models import User
from fleet.models import Lane, Node, NodeState
from fleet.selectors import free_lanes
from fleet.services import NOT_OFFERED, allocate, ensure_local_lanes
from fleet.upkeep import NodeOffline, PoolAction, change_lane, change_node
from tests.web.lane_holders import held_by
from worker.contracts.lanes import LaneSpec

pytestmark = pytest.mark.django_db
THREE = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1)


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_user("pool-admin", password="x", is_staff=True)


@pytest.fixture
def node() -> Node:
    ensure_local_lanes(num_cpu_lanes=6)
    return Node.objects.get()


@pytest.mark.parametrize("action", [PoolAction.CORDON, PoolAction.DRAIN])
def test_a_cordoned_node_keeps_its_runs_and_takes_nothing_new(admin: User, node: Node, action: PoolAction) -> None:
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=THREE) is not None
    changed = change_node(user=admin, node=node, action=action, reason=" new cables ")
    assert (changed.reason, changed.cordoned_by) == ("new cables", "pool-admin")
    assert Lane.objects.filter(run_id=run_id).count() == 3
    assert allocate(holder=held_by(uuid.uuid4(), 1), wanted=THREE) is None
    resumed = change_node(user=admin, node=node, action=PoolAction.RESUME)
    assert (resumed.state, resumed.reason, resumed.cordoned_by) == (NodeState.ACTIVE, "", "")
    assert free_lanes() == {"cpu": 3}


def test_a_lane_is_cordoned_alone_and_stays_so_when_the_node_starts_again(admin: User, node: Node) -> None:
    lane = Lane.objects.get(index=2)
    change_lane(user=admin, lane=lane, action=PoolAction.CORDON, reason="too hot")
    ensure_local_lanes(num_cpu_lanes=6)
    assert free_lanes() == {"cpu": 5}
    change_lane(user=admin, lane=lane, action=PoolAction.RESUME)
    assert free_lanes() == {"cpu": 6}


def test_a_surplus_lane_is_usable_again_once_its_node_offers_it(node: Node) -> None:
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=THREE) is not None
    ensure_local_lanes(num_cpu_lanes=1)
    assert set(Lane.objects.filter(index__gte=1).values_list("cordoned", "reason")) == {(True, NOT_OFFERED)}
    ensure_local_lanes(num_cpu_lanes=6)
    assert not Lane.objects.filter(cordoned=True).exists()


def test_an_offline_node_takes_no_orders(admin: User, node: Node) -> None:
    Node.objects.update(state=NodeState.OFFLINE)
    with pytest.raises(NodeOffline, match="register it again"):
        change_node(user=admin, node=node, action=PoolAction.RESUME)


def test_only_pool_admins_keep_back_and_only_with_a_reason(admin: User, alice: User, node: Node) -> None:
    with pytest.raises(PermissionDenied, match="pool admin"):
        change_node(user=alice, node=node, action=PoolAction.CORDON, reason="mine")
    with pytest.raises(ValidationError, match="reason"):
        change_node(user=admin, node=node, action=PoolAction.DRAIN, reason="  ")
    with pytest.raises(ValidationError, match="cordon or resume"):
        change_lane(user=admin, lane=Lane.objects.all()[0], action=PoolAction.DRAIN, reason="x")
