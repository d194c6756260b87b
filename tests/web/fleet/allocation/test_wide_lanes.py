"""Lanes of several GPUs: linked cards together, made of free lanes only, and what grants and uses say of them."""

import re
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from audit.models import AuditEntry
from fleet.allocation.gpu_groups import gpu_groups
from fleet.allocation.lane_choice import FreeLane, LaneDemand, choose_lanes
from fleet.allocation.lane_locks import free_lanes_of
from fleet.allocation.wide_lanes import regroup_all, set_gpus_per_lane
from fleet.health.device_proof import compare
from fleet.health.idleness import idle_gpus
from fleet.models import Gpu, Lane, LaneKind, LaneUse, Node, Pool, ServiceState
from fleet.pools.annotate import annotate
from fleet.selectors import devices_of, free_devices, grants_of, pool_devices, pool_lanes
from fleet.services import WantedLanes, allocate, allocate_more, release
from runs.spec_check import check_spec
from tests.slow_params import examples
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.lane_holders import held_by
from worker.contracts.device_names import MAX_GPUS_PER_LANE
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import LaneRole
from worker.contracts.node_reports import GpuReport, GpuTopology
from worker.contracts.run_spec import RunSpec

H100 = "NVIDIA H100 80GB HBM3"
TWO_AND_ONE = {"num_rollout": 2, "num_trainer": 1, "num_reward": 1}
"""One lane more than a node of 3 + 1 cards and another of one have lanes of one card."""
OFF: dict[str, Any] = {"performance": {"context_parallel": "off"}}
THREE = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1)


def cards(number: int, *, pairs: bool = True) -> list[GpuReport]:
    """Cards that NVLink bridges join in pairs far apart on the bus: 0 with `number / 2`, and so on."""
    half = number // 2

    def topology(index: int) -> GpuTopology:
        return GpuTopology(nvlink_peers=(f"GPU-{(index + half) % number}",) if pairs else (), numa_node=0)

    return [card(f"GPU-{index}", index).model_copy(update={"topology": topology(index)}) for index in range(number)]


def by_lane() -> dict[str, list[str]]:
    """UUIDs by the label of their lane."""
    return {lane.label: sorted(gpu.uuid for gpu in lane.gpus.all()) for lane in Lane.objects.filter(kind="gpu")}


@pytest.fixture
def node(admin: User) -> Node:
    post_node(alive("big", num_cpu_lanes=3), *cards(4))
    return Node.objects.get()


def test_linked_cards_make_a_lane_together(admin: User, node: Node) -> None:
    set_gpus_per_lane(user=admin, node=node, number=2)
    assert by_lane() == {"big/gpu-0": ["GPU-0", "GPU-2"], "big/gpu-1": ["GPU-1", "GPU-3"]}
    assert pool_lanes() == {"gpu": 2, "cpu": 3}
    assert pool_devices("default") == {"2 × NVIDIA H100 80GB HBM3": 2}
    assert AuditEntry.objects.get(action="node.set_gpus_per_lane").changes == {"gpus_per_lane": 2}
    set_gpus_per_lane(user=admin, node=node, number=1)
    assert by_lane() == {f"big/gpu-{index}": [f"GPU-{index}"] for index in range(4)}


def test_a_grant_and_a_use_of_such_a_lane_have_all_its_cards(admin: User, node: Node) -> None:
    annotate(user=admin, on=node, price_per_gpu_hour=Decimal("2.5"))
    set_gpus_per_lane(user=admin, node=node, number=2)
    post_node(alive("small"), card("GPU-7", 0))
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=THREE) is not None
    grants = {grant.lane: grant for grant in grants_of(run_id, 1)}
    assert grants["trainer-0"].uuids == ("GPU-7",)
    assert (grants["rollout-0"].uuids, grants["rollout-0"].gpus) == (("GPU-0", "GPU-2"), (0, 2))
    assert grants["rollout-0"].device == "GPU-0,GPU-2"
    use = LaneUse.objects.get(role="rollout")
    assert (use.gpus, use.price_per_hour) == (["GPU-0", "GPU-2"], Decimal(5))
    seen = {lane: grant.uuids for lane, grant in grants.items()}
    assert compare(run_id, 1, seen) == []
    assert compare(run_id, 1, {"rollout-0": ["GPU-0"]}) == ["rollout-0"], "a lane that sees one of two is no match"


def test_lanes_of_several_cards_train_only_where_the_run_asks_for_them(admin: User, node: Node) -> None:
    set_gpus_per_lane(user=admin, node=node, number=2)
    assert allocate(holder=held_by(uuid.uuid4(), 1), wanted=THREE) is None
    assert pool_devices("default") == {f"2 × {H100}": 2}
    post_node(alive("small"), card("GPU-7", 0))
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=THREE) is not None
    more = [WantedLanes(role=LaneRole.TRAINER, number=1)]
    assert allocate_more(holder=held_by(run_id, 1), pool="default", wanted=more) is None
    more = [WantedLanes(role=LaneRole.ROLLOUT, number=1)]
    assert allocate_more(holder=held_by(run_id, 1), pool="default", wanted=more) is not None
    assert devices_of(run_id, 1) == (f"2 × {H100}", f"2 × {H100}", H100)
    assert free_devices(LaneKind.GPU, "default") == {}


def test_further_trainer_lanes_have_as_many_cards_as_the_first(admin: User, node: Node) -> None:
    set_gpus_per_lane(user=admin, node=node, number=2)
    post_node(alive("small"), card("GPU-7", 0), card("GPU-8", 1))
    wide = f"2 × {H100}"
    demand = LaneDemand(trainers=Counter({wide: 1}), rollouts=Counter({H100: 1}), rewards=Counter({"cpu": 1}))
    chosen = choose_lanes(free_lanes_of([LaneKind.GPU, LaneKind.CPU], pool="default"), demand)
    holder = held_by(uuid.uuid4(), 1)
    assert allocate(holder=holder, wanted=THREE, chosen=chosen) is not None
    more = [WantedLanes(role=LaneRole.TRAINER, number=1)]
    (grant,) = allocate_more(holder=holder, pool="default", wanted=more) or ()
    assert len(grant.uuids) == 2
    assert allocate_more(holder=holder, pool="default", wanted=more) is None, "the other free card is a lane of one"


@pytest.mark.parametrize(
    ("gpus_per_lane", "changes", "path", "said"),
    [
        (2, {}, "", ""),
        (2, {"pipeline": {"placement": "auto"}}, "", ""),
        (2, OFF, "lanes.num_trainer", r"must be ≤ 0 \(lanes of the pool default that .*, got 1: .* `gpus_per_lane`"),
        (2, {**OFF, "pipeline": {"placement": "auto"}}, "lanes.num_trainer", "over which its passes can be spread"),
        (2, {"sampling": {"max_sequence_length": 255}}, "lanes.num_trainer", "equally many GPUs"),
        (4, {"sampling": {"height": 480, "width": 832}}, "", ""),
        (4, {"sampling": {"height": 16, "width": 16}}, "performance.context_parallel", "4 GPUs, got auto: 4 does not "),
        (4, {"sampling": {"height": 16, "width": 16}, **OFF}, "", ""),
        (3, {}, "", ""),
        (3, {"lanes": TWO_AND_ONE}, "performance.context_parallel", "3 does not divide the .* tokens of a sample of "),
    ],
)
def test_a_run_that_no_lane_could_load_is_refused_before_it_waits(
    admin: User,
    make_spec: Callable[..., RunSpec],
    gpus_per_lane: int,
    changes: dict[str, Any],
    path: str,
    said: str,
) -> None:
    """Of a model whose files are not here: the planner's profile knows its heads, FLUX.1's 24."""
    post_node(alive("big", num_cpu_lanes=3), *cards(4, pairs=False))
    set_gpus_per_lane(user=admin, node=Node.objects.get(), number=gpus_per_lane)
    if gpus_per_lane != 2:
        post_node(alive("small"), card("GPU-7", 0))
    model = {"path": "black-forest-labs/FLUX.1-dev", "family": "flux"}
    lanes = {"num_rollout": 1, "num_trainer": 1, "num_reward": 1}
    document = {**make_spec().model_dump(mode="json"), "base_model": model, "lanes": lanes, **changes}
    errors = check_spec(document).errors
    assert list(errors) == ([path] if path else [])
    assert not path or re.search(said, errors[path][0])


def test_lanes_that_are_held_change_once_they_are_free(
    admin: User, node: Node, django_capture_on_commit_callbacks: object
) -> None:
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=THREE) is not None
    held = {grant.lane: grant.uuids for grant in grants_of(run_id, 1)}
    set_gpus_per_lane(user=admin, node=node, number=2)
    assert {grant.lane: grant.uuids for grant in grants_of(run_id, 1)} == held
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        release(run_id=run_id, attempt=1)
    assert by_lane() == {"big/gpu-0": ["GPU-0", "GPU-2"], "big/gpu-1": ["GPU-1", "GPU-3"]}
    assert LaneUse.objects.filter(until=None).count() == 0


def test_cards_out_of_service_keep_their_lanes_and_are_grouped_when_they_return(admin: User, node: Node) -> None:
    Gpu.objects.filter(uuid="GPU-2").update(state=ServiceState.FAULTY)
    set_gpus_per_lane(user=admin, node=node, number=2)
    assert by_lane() == {"big/gpu-0": ["GPU-0"], "big/gpu-1": ["GPU-1", "GPU-3"], "big/gpu-2": ["GPU-2"]}
    assert regroup_all() == 0
    Gpu.objects.update(state=ServiceState.ACTIVE)
    assert regroup_all() == 1
    assert by_lane()["big/gpu-0"] == ["GPU-0", "GPU-2"]


def test_a_card_that_joins_later_is_grouped_too(admin: User, node: Node) -> None:
    set_gpus_per_lane(user=admin, node=node, number=2)
    post_node(alive("big", num_cpu_lanes=3), *cards(4), card("GPU-8", 4), card("GPU-9", 5))
    regroup_all()
    assert sorted(by_lane().values()) == [["GPU-0", "GPU-2"], ["GPU-1", "GPU-3"], ["GPU-8", "GPU-9"]]


def test_lanes_made_anew_are_in_the_pool_of_their_labels(admin: User, node: Node) -> None:
    Pool.objects.create(name="fast", order=1, match_labels={"model": "h100"})
    annotate(user=admin, on=node, labels={"model": "h100"})
    for number in (2, 1, 4):
        set_gpus_per_lane(user=admin, node=node, number=number)
        assert set(Lane.objects.filter(kind="gpu").values_list("pool", flat=True)) == {"fast"}
        assert Lane.objects.filter(kind="gpu").count() == 4 // number


def test_the_cards_that_no_process_computes_on_are_not_called_idle(admin: User, node: Node) -> None:
    set_gpus_per_lane(user=admin, node=node, number=2)
    post_node(alive("small"), card("GPU-7", 0))
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=THREE) is not None
    long_ago = timezone.now() - timedelta(days=1)
    since = Lane.objects.filter(run_id=run_id, kind="gpu").values_list("held_since", flat=True)[0]
    Gpu.objects.update(idle_since=long_ago, held_for=since)
    assert {idle.uuid for idle in idle_gpus(timezone.now())} == {"GPU-0", "GPU-7"}


def test_slices_of_a_card_stay_lanes_of_their_own(admin: User) -> None:
    slices = [card(f"MIG-{number}", 0, parent_uuid="GPU-a") for number in (1, 2)]
    post_node(alive("small"), *slices)
    set_gpus_per_lane(user=admin, node=Node.objects.get(), number=2)
    assert sorted(by_lane().values()) == [["MIG-1"], ["MIG-2"]]


@pytest.mark.parametrize("number", [0, MAX_GPUS_PER_LANE + 1])
def test_a_number_out_of_bounds_is_refused_with_the_bounds(admin: User, node: Node, number: int) -> None:
    with pytest.raises(ValidationError, match=f"between 1 and {MAX_GPUS_PER_LANE}, got {number}"):
        set_gpus_per_lane(user=admin, node=node, number=number)


def machine(found: list[tuple[str, int, int]]) -> list[FreeLane]:
    """Cards, each with its model, its NVLink bridge (0 for none) and its NUMA node."""

    def peers(index: int) -> frozenset[str]:
        bridge = found[index][1]
        return frozenset(str(other) for other, card in enumerate(found) if card[1] == bridge > 0 and other != index)

    return [
        FreeLane(
            key=index,
            node="n",
            index=index,
            device=model,
            uuids=(str(index),),
            nvlink_peers=peers(index),
            numa_node=numa_node,
        )
        for index, (model, _, numa_node) in enumerate(found)
    ]


machines = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.integers(0, 1)), max_size=9).map(machine)


@given(found=machines, size=st.integers(1, 4))
def test_every_card_is_in_one_group_of_its_likes(found: list[FreeLane], size: int) -> None:
    groups = gpu_groups(found, size)
    assert sorted(key for group in groups for key in group) == [lane.key for lane in found]
    assert all(len({found[key].device for key in group}) == 1 for group in groups)
    assert all(len(group) in (1, size) for group in groups)
    for device in ("a", "b"):
        alone = [group for group in groups if len(group) == 1 and found[group[0]].device == device]
        assert size == 1 or len(alone) < size, "as many cards as make a group do"


@settings(max_examples=examples(8, 15), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    steps=st.lists(
        st.one_of(st.integers(1, 4), st.sampled_from(["hold", "free", "fault", "mend", "round"])), max_size=12
    )
)
def test_whatever_happens_every_card_has_one_lane_and_held_lanes_keep_theirs(
    admin: User, steps: list[int | str]
) -> None:
    Node.objects.all().delete()
    post_node(alive("big", num_cpu_lanes=9), *cards(8))
    node, held = Node.objects.get(), list[uuid.UUID]()
    for step in steps:
        before = {run_id: grants_of(run_id, 1) for run_id in held}
        if isinstance(step, int):
            set_gpus_per_lane(user=admin, node=node, number=step)
        elif step == "hold":
            run_id = uuid.uuid4()
            if allocate(holder=held_by(run_id, 1), wanted=THREE) is not None:
                held.append(run_id)
        elif step == "free" and held:
            release(run_id=held.pop(0), attempt=1)
        elif step == "fault":
            Gpu.objects.filter(index=3).update(state=ServiceState.FAULTY)
        elif step == "mend":
            Gpu.objects.update(state=ServiceState.ACTIVE)
        else:
            regroup_all()
        assert all(grants_of(run_id, 1) == before[run_id] for run_id in held if run_id in before)
        assert sorted(uuid for group in by_lane().values() for uuid in group) == [f"GPU-{index}" for index in range(8)]
        assert all(by_lane().values()), "no lane is without a card"
    for run_id in held:
        release(run_id=run_id, attempt=1)
    Gpu.objects.update(state=ServiceState.ACTIVE)
    regroup_all()
    node.refresh_from_db()
    assert {len(group) for group in by_lane().values()} <= {1, node.gpus_per_lane}
