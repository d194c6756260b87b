"""Those who wait are told what takes no work, since when, by whom and why."""

import pytest
from django.utils import timezone

from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Node, ServiceState
from fleet.out_of_service import lanes_out_of_service, why_out_of_service
from fleet.states.state_changes import change_state
from tests.web.fleet.node_posts import alive, card, post_node

pytestmark = pytest.mark.django_db


def test_a_pool_in_service_has_nothing_to_say() -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    assert (lanes_out_of_service(), why_out_of_service()) == ({}, "")


def test_a_draining_node_is_named_once_with_all_that_is_known() -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    node = Node.objects.get()
    change_state(node, ServiceState.DRAINING, by="ada", reason="new fans")
    since = node.state_since.strftime("%d %b %H:%M")
    assert lanes_out_of_service() == {"cpu": 3}
    assert why_out_of_service() == f"node local is draining since {since} by ada (new fans)"


def test_one_gpu_is_named_apart_from_its_node() -> None:
    post_node(alive("gpu0"), card("GPU-a", 0), card("GPU-b", 1, xids={79: 1}))
    assert lanes_out_of_service() == {"gpu": 1}
    assert "GPU 1 of gpu0 is faulty" in why_out_of_service()
    assert "Xid 79: fallen off the bus" in why_out_of_service()


def test_a_lost_node_says_so_and_many_places_are_counted() -> None:
    for index in range(5):
        post_node(alive(f"gpu{index}"), card(f"GPU-{index}", 0))
    Gpu.objects.exclude(node__name="gpu0").update(state=ServiceState.CORDONED)
    Node.objects.filter(name="gpu0").update(lost_since=timezone.now())
    said = why_out_of_service()
    assert said.startswith("node gpu0 is lost since")
    assert said.endswith("; 2 more places")


def test_lanes_that_a_node_does_not_offer_any_more_are_no_news() -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    Node.objects.get().lanes.filter(index=2).update(run_id=None)
    ensure_local_lanes(num_cpu_lanes=1)
    assert lanes_out_of_service() == {}
