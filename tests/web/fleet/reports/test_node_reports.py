"""Nodes and GPUs come by themselves, are told apart from their likes, and come back with their history."""

import uuid
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.health.device_proof import compare
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Lane, LaneUse, Node, NodeAgent, StateChange
from fleet.reports.report_intake import LOST_AFTER
from fleet.selectors import free_lanes, grants_of, pool_lanes
from fleet.services import allocate, allocate_for_preview
from fleet.states.standing import PoolState, of_gpu
from tests.slow_params import examples
from tests.web.fleet.node_posts import alive, card, post, post_node, report
from tests.web.lane_holders import held_by, held_for_preview
from worker.contracts.lanes import DEFAULT_POOL, LaneSpec
from worker.contracts.node_reports import CardFigures, Vendor

pytestmark = pytest.mark.django_db


def long_ago() -> None:
    """Let the time pass after which a node that Ray leaves out is lost."""
    before = timezone.now() - 2 * LOST_AFTER
    Node.objects.update(in_cluster_at=before)
    NodeAgent.objects.update(reported_at=before)


def test_a_node_that_reports_is_in_the_pool_with_a_lane_for_each_gpu() -> None:
    post_node(alive("gpu0"), card("GPU-a", 0), card("GPU-b", 1))
    assert pool_lanes() == {"gpu": 2, "cpu": 2}
    node = Node.objects.get()
    assert (node.num_cores, node.memory_bytes, node.load) == (32, 256 * 2**30, 1.5)
    assert [(gpu.uuid, gpu.accelerator, gpu.lane and gpu.lane.label) for gpu in node.gpus.all()] == [
        ("GPU-a", "NVIDIA H100 80GB HBM3", "gpu0/gpu-0"),
        ("GPU-b", "NVIDIA H100 80GB HBM3", "gpu0/gpu-1"),
    ]


def test_nothing_is_placed_on_a_node_from_the_first_report_that_leaves_it_out() -> None:
    both = [alive("gpu0"), alive("gpu1")]
    post(*both, reports=tuple(report(node, card(f"GPU-{node.name}", 0)) for node in both))
    assert free_lanes() == {"gpu": 2, "cpu": 4}
    post(both[0])
    assert free_lanes() == {"gpu": 1, "cpu": 2}
    assert Node.objects.get(name="gpu1").lost_since is None, "Ray may count it as alive again at once"
    post(*both)
    assert free_lanes() == {"gpu": 2, "cpu": 4}


def test_a_lane_is_granted_with_its_node_and_its_uuids() -> None:
    post_node(alive("gpu0", "ray-7"), card("GPU-a", 0))
    granted = allocate_for_preview(held_for_preview(uuid.uuid4(), uuid.uuid4()), DEFAULT_POOL)
    assert granted is not None
    assert (granted.device, granted.ray_node_id, granted.resources) == ("GPU-a", "ray-7", ())


@pytest.mark.parametrize(
    ("vendor", "uuid", "is_named"),
    [
        (Vendor.NVIDIA, "GPU-5a8c1de3-0c1f-4f6e-9d6b-2f6a7f1f0c11", True),
        (Vendor.AMD, "GPU-00000000deadbeef", True),
        (Vendor.AMD, "GPU-00000000deadbeef.1", False),
        (Vendor.ASCEND, "NPU-0000:c1:00.0", False),
    ],
)
def test_a_lane_goes_by_uuid_where_the_vendors_library_takes_it(vendor: Vendor, uuid: str, is_named: bool) -> None:
    reported = card(uuid, 3)
    identity = reported.identity.model_copy(update={"vendor": vendor})
    post_node(alive("gpu0"), reported.model_copy(update={"identity": identity}))
    granted = allocate_for_preview(held_for_preview(uuid4(), uuid4()), DEFAULT_POOL)
    assert granted is not None
    assert granted.device == (uuid if is_named else "3")


def test_what_was_measured_of_a_card_outlives_the_agent_that_measured_it() -> None:
    node, plain = alive("gpu0"), card("GPU-a", 0, model="NVIDIA A40")
    figures = CardFigures(num_processors=84, bf16_flops=1e14, fp32_flops=3e13, memory_bandwidth=6e11)
    measured = plain.model_copy(update={"identity": plain.identity.model_copy(update={"figures": figures})})
    post_node(node, measured)
    post_node(node, plain)
    assert CardFigures.model_validate(Gpu.objects.get().identity["figures"]) == figures
    post_node(node, card("GPU-a", 0, model="NVIDIA L4"))
    assert Gpu.objects.get().identity["figures"] is None


def test_a_node_that_tandem_started_has_a_resource_for_each_gpu() -> None:
    node = alive("gpu0", has_gpu_resources=True)
    post_node(node, card("GPU-a", 0))
    post(node)
    assert Gpu.objects.get().resource == "tandem-gpu0-gpu-0"


def test_cards_of_this_machine_get_their_uuids_and_keep_their_lanes() -> None:
    ensure_local_lanes(num_cpu_lanes=4, gpu_indices=range(2), accelerator="H100")
    lanes = dict(Gpu.objects.values_list("index", "lane"))
    post_node(alive("local", has_gpu_resources=True), card("GPU-a", 0), card("GPU-b", 1))
    assert dict(Gpu.objects.values_list("index", "lane")) == lanes
    assert pool_lanes() == {"gpu": 2, "cpu": 4}


def test_a_node_that_ray_leaves_out_is_lost_with_time_and_comes_back_as_it_was() -> None:
    post_node(alive("gpu0"), card("GPU-a", 0))
    post_node(alive("gpu1"), card("GPU-b", 0))
    post(alive("gpu0"))
    assert pool_lanes() == {"gpu": 2, "cpu": 4}
    long_ago()
    post(alive("gpu0"))
    assert pool_lanes() == {"gpu": 1, "cpu": 2}
    post_node(alive("gpu1", "another id of Ray"), card("GPU-b", 0))
    assert pool_lanes() == {"gpu": 2, "cpu": 4}
    assert [(change.name, change.new) for change in StateChange.objects.all()] == [("gpu1", "found"), ("gpu1", "lost")]


def test_a_silent_agent_loses_no_node() -> None:
    post_node(alive("gpu0"), card("GPU-a", 0))
    long_ago()
    assert pool_lanes() == {"gpu": 1, "cpu": 2}
    post(alive("gpu0"))
    assert not StateChange.objects.exists()


def test_a_card_that_its_driver_does_not_reach_is_lost_alone_and_faulty_when_it_is_found() -> None:
    node = alive("gpu0")
    post_node(node, card("GPU-a", 0), card("GPU-b", 1))
    post_node(node, card("GPU-a", 0), card("GPU-b", 1, is_lost=True))
    assert free_lanes() == {"gpu": 1, "cpu": 2}
    assert of_gpu(Gpu.objects.get(uuid="GPU-b")).state is PoolState.LOST
    post_node(node, card("GPU-a", 0), card("GPU-b", 1))
    assert free_lanes() == {"gpu": 1, "cpu": 2}
    assert of_gpu(Gpu.objects.get(uuid="GPU-b")).state is PoolState.FAULTY
    assert set(StateChange.objects.values_list("name", "new")) == {
        ("GPU-b", "found"),
        ("GPU-b", "faulty"),
        ("GPU-b", "lost"),
    }


def test_gpus_that_another_program_uses_give_no_lanes() -> None:
    post_node(alive("gpu0", are_gpus_held=False), card("GPU-a", 0))
    assert pool_lanes() == {"gpu": 0, "cpu": 2}
    post(alive("gpu0"))
    assert pool_lanes() == {"gpu": 1, "cpu": 2}


def test_a_card_that_moves_to_another_machine_takes_its_history_along() -> None:
    post_node(alive("gpu0"), card("GPU-a", 0))
    (gpu,) = Gpu.objects.all()
    post_node(alive("gpu1"), card("GPU-a", 3))
    gpu.refresh_from_db()
    assert (gpu.node.name, gpu.lane and gpu.lane.label) == ("gpu1", "gpu1/gpu-3")
    assert not Lane.objects.filter(node__name="gpu0", kind="gpu").exists()


def test_slices_of_a_card_are_lanes_of_their_own() -> None:
    slices = [card(f"MIG-{number}", 0, parent_uuid="GPU-a") for number in (1, 2)]
    post_node(alive("gpu0"), *slices, card("GPU-b", 1))
    labels = dict(Gpu.objects.values_list("uuid", "lane__label"))
    assert labels == {"MIG-1": "gpu0/gpu-0", "MIG-2": "gpu0/gpu-2", "GPU-b": "gpu0/gpu-1"}


def test_a_report_of_a_node_that_ray_does_not_list_is_left_out() -> None:
    node = alive("gpu0")
    post(reports=(report(node, card("GPU-a", 0)),))
    assert not Gpu.objects.exists()


def test_reports_leave_runs_their_lanes() -> None:
    node = alive("gpu0")
    post_node(node, card("GPU-a", 0), card("GPU-b", 1))
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=LaneSpec()) is not None
    post_node(node, card("GPU-b", 0), card("GPU-c", 1))
    held = {uuid for grant in grants_of(run_id, 1) for uuid in grant.uuids}
    assert held == {"GPU-a", "GPU-b"}
    assert LaneUse.objects.filter(until=None).count() == 3


def test_a_lane_that_sees_another_card_cordons_the_one_that_was_chosen() -> None:
    post_node(alive("gpu0"), card("GPU-a", 0), card("GPU-b", 1))
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=LaneSpec()) is not None
    (rollout, trainer) = sorted(grant.lane for grant in grants_of(run_id, 1) if grant.uuids)
    told = {grant.lane: grant.uuids for grant in grants_of(run_id, 1)}
    assert compare(run_id, 1, {lane: tuple(uuid.removeprefix("GPU-") for uuid in told[lane]) for lane in told}) == []
    assert compare(run_id, 1, {rollout: ("GPU-c",), trainer: told[trainer]}) == [rollout]
    cordoned = Gpu.objects.get(state="cordoned")
    assert (cordoned.uuid, cordoned.reason) == (told[rollout][0], "a lane placed on it saw GPU-c")
    assert compare(run_id, 2, {rollout: ("GPU-c",)}) == [], "another attempt's lanes are not these"


cards = st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), unique_by=lambda found: found[0], max_size=5)
rounds = st.lists(st.dictionaries(st.sampled_from(["n0", "n1", "n2"]), cards, max_size=3), min_size=1, max_size=6)


@settings(
    max_examples=examples(20, 60),
    deadline=timedelta(seconds=5),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rounds=rounds)
def test_whatever_is_reported_each_card_is_one_row_in_at_most_one_lane_of_its_node(
    rounds: list[dict[str, list[tuple[str, bool]]]],
) -> None:
    for found in rounds:
        # A card is in one machine at a time.
        seen: set[str] = set()
        nodes, reports = [], []
        for name, listed in found.items():
            node = alive(name)
            gpus = [
                card(f"GPU-{letter}", index, is_lost=lost)
                for index, (letter, lost) in enumerate(listed)
                if letter not in seen
            ]
            seen.update(letter for letter, _ in listed)
            nodes.append(node)
            reports.append(report(node, *gpus))
        post(*nodes, reports=tuple(reports))
        assert all(gpu.lane is None or gpu.lane.node_id == gpu.node_id for gpu in Gpu.objects.select_related("lane"))
        assert not Lane.objects.filter(kind="gpu", gpus=None).exists()
        reported = {gpu.identity.uuid for listed in reports for gpu in listed.gpus}
        assert set(Gpu.objects.filter(uuid__in=reported).values_list("uuid", flat=True)) == reported
        assert not Gpu.objects.filter(uuid__in=reported, lane=None).exists()
