import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from fleet.allocation.lane_choice import ChosenLanes
from fleet.allocation.lane_locks import free_lanes_of
from fleet.lane_demand import fits, kinds_wanted
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, LaneKind, Node, ServiceState
from fleet.selectors import devices_of, free_devices, free_lanes, grants_of, holders, pool_devices, pool_lanes
from fleet.services import allocate, change_role, release
from tests.web.lane_holders import held_by
from worker.contracts.lanes import LaneSpec, gpu_resource
from worker.contracts.names import LaneRole, RewardDevice

THREE = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1)
lane_specs = st.builds(LaneSpec, **{f"num_{role}": st.integers(1, 6) for role in LaneRole})
pools = st.fixed_dictionaries({"cpu": st.integers(0, 9), "gpu": st.integers(0, 9)})


def allocated(wanted: LaneSpec, attempt: int = 1) -> uuid.UUID | None:
    run_id = uuid.uuid4()
    return None if allocate(holder=held_by(run_id, attempt), wanted=wanted) is None else run_id


@pytest.mark.django_db
def test_a_machine_without_gpus_holds_cpu_lanes_with_labels() -> None:
    lanes = ensure_local_lanes(num_cpu_lanes=3)
    assert [lane.label for lane in lanes] == ["local/cpu-0", "local/cpu-1", "local/cpu-2"]
    assert {(lane.device, lane.gpus.count()) for lane in lanes} == {("cpu", 0)}


@pytest.mark.django_db
def test_ensuring_lanes_again_changes_nothing_and_keeps_those_held() -> None:
    ensure_local_lanes(num_cpu_lanes=4)
    run_id = allocated(THREE)
    assert run_id is not None
    ensure_local_lanes(num_cpu_lanes=4)
    assert Node.objects.count() == 1
    assert Lane.objects.filter(run_id=run_id).count() == 3
    ensure_local_lanes(num_cpu_lanes=1)
    assert Lane.objects.count() == 3, "held lanes stay until they are free"
    release(run_id=run_id, attempt=1)
    assert free_lanes() == {"cpu": 1}
    ensure_local_lanes(num_cpu_lanes=1)
    assert Lane.objects.count() == 1


@pytest.mark.django_db
def test_each_role_gets_its_lanes_with_numbers_of_its_own() -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run_id = uuid.uuid4()
    granted = allocate(holder=held_by(run_id, 2), wanted=LaneSpec(num_rollout=2, num_trainer=1, num_reward=1))
    assert granted is not None
    assert [lane.lane for lane in granted] == ["rollout-0", "rollout-1", "trainer-0", "reward-0"]
    assert {(lane.node, lane.device, lane.gpus) for lane in granted} == {("local", "cpu", ())}
    assert grants_of(run_id, 2) == granted
    assert grants_of(run_id, 1) == ()
    assert [(h.run_id, h.attempt, h.num_lanes) for h in holders()] == [(run_id, 2, 4)]


@pytest.mark.django_db
def test_reward_lanes_take_gpus_when_the_spec_asks_for_it_and_the_pool_has_any() -> None:
    asking = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1, rewards_on=RewardDevice.OWN_GPU)
    ensure_local_lanes(num_cpu_lanes=2, gpu_indices=range(3))
    granted = allocate(holder=held_by(uuid.uuid4(), 1), wanted=asking)
    assert granted is not None
    assert {lane.role: lane.device for lane in granted} == {"trainer": "0", "rollout": "1", "reward": "2"}
    assert kinds_wanted(asking, {LaneKind.CPU: 3}) == {LaneKind.CPU: 3}


@pytest.mark.django_db
def test_rewards_are_scored_on_cpu_lanes_where_the_pool_has_gpus() -> None:
    ensure_local_lanes(num_cpu_lanes=2, gpu_indices=range(2))
    granted = allocate(holder=held_by(uuid.uuid4(), 1), wanted=THREE)
    assert granted is not None
    assert {lane.role: (lane.device, lane.resources) for lane in granted} == {
        LaneRole.TRAINER: ("0", (gpu_resource("local", 0),)),
        LaneRole.ROLLOUT: ("1", (gpu_resource("local", 1),)),
        LaneRole.REWARD: ("cpu", ()),
    }
    assert allocated(THREE) is None, "no GPU is left, and CPU lanes are no stand-in"


@pytest.mark.django_db
def test_a_request_is_granted_whole_or_not_at_all() -> None:
    ensure_local_lanes(num_cpu_lanes=5)
    assert allocated(THREE) is not None
    assert allocated(THREE) is None
    assert free_lanes() == {"cpu": 2}


@pytest.mark.django_db
def test_released_lanes_are_free_again_and_releasing_twice_is_no_error() -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    run_id = allocated(THREE)
    assert run_id is not None
    assert release(run_id=run_id, attempt=2) == 0
    assert release(run_id=run_id, attempt=1) == 3
    assert release(run_id=run_id, attempt=1) == 0
    assert allocated(THREE) is not None


@pytest.mark.django_db
@pytest.mark.parametrize("state", [ServiceState.CORDONED, ServiceState.DRAINING])
def test_nodes_that_are_not_active_give_no_lanes(state: ServiceState) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    Node.objects.update(state=state)
    assert pool_lanes() == {"cpu": 0}
    assert allocated(THREE) is None


@pytest.mark.django_db
def test_one_lane_can_be_cordoned_alone() -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    Lane.objects.filter(index=0).update(state=ServiceState.CORDONED)
    assert pool_lanes() == {"cpu": 2}
    assert allocated(THREE) is None


@given(wanted=lane_specs, pool=pools)
def test_what_is_wanted_is_always_as_many_lanes_as_the_spec_says(wanted: LaneSpec, pool: dict[Any, int]) -> None:
    kinds = kinds_wanted(wanted, pool)
    assert sum(kinds.values()) == wanted.num_rollout + wanted.num_trainer + wanted.num_reward
    assert fits(wanted, pool, pool) == all(pool[kind] >= count for kind, count in kinds.items())


def in_threads(acts: list[Callable[[], Any]], timeout_seconds: float = 30) -> list[Any]:
    """Run the acts at once, each on a connection of its own."""
    barrier, results = threading.Barrier(len(acts)), [None] * len(acts)

    def work(index: int) -> None:
        try:
            barrier.wait(timeout=10)
            results[index] = acts[index]()
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout_seconds)
    assert not any(thread.is_alive() for thread in threads)
    return results


@pytest.mark.django_db(transaction=True)
def test_dispatchers_at_once_never_get_the_same_lane() -> None:
    ensure_local_lanes(num_cpu_lanes=9)
    granted = [run_id for run_id in in_threads([lambda: allocated(THREE)] * 6) if run_id is not None]
    held = [lane.run_id for lane in Lane.objects.all() if lane.run_id is not None]
    assert len(granted) <= 3
    assert sorted(held) == sorted(granted * 3)
    while (run_id := allocated(THREE)) is not None:
        granted.append(run_id)
    assert len(granted) == 3, "lanes passed over while they were being taken are given afterwards"


@pytest.mark.django_db(transaction=True)
def test_a_lane_being_taken_is_passed_over_not_waited_for() -> None:
    ensure_local_lanes(num_cpu_lanes=4)
    with transaction.atomic():
        assert allocated(THREE) is not None
        assert in_threads([lambda: allocated(THREE)], timeout_seconds=5) == [None]


@pytest.mark.django_db(transaction=True)
def test_a_report_of_a_node_and_the_end_of_a_run_there_do_not_wait_for_each_other() -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    run_id = allocated(THREE)
    assert run_id is not None

    def change_role_and_release() -> int:
        assert change_role(run_id=run_id, attempt=1, name="rollout-0", role=LaneRole.TRAINER)
        return release(run_id=run_id, attempt=1)

    with transaction.atomic():
        Node.objects.update(load=0.5)
        assert in_threads([change_role_and_release], timeout_seconds=5) == [3]


@pytest.mark.django_db
def test_just_the_lanes_that_were_chosen_are_granted() -> None:
    ensure_local_lanes(num_cpu_lanes=5)
    wanted = LaneSpec(num_rollout=2, num_trainer=2, num_reward=1)
    free = sorted(free_lanes_of([LaneKind.CPU], pool="default"), key=lambda lane: lane.key)
    chosen = ChosenLanes(trainers=(free[0], free[2]), rollouts=(free[1], free[3]), rewards=(free[4],))
    assert allocate(holder=held_by(uuid.uuid4(), 1), wanted=wanted, chosen=chosen) is not None
    by_label = dict(Lane.objects.values_list("label", "role"))
    assert [by_label[f"local/cpu-{index}"] for index in range(5)] == [
        "trainer",
        "rollout",
        "trainer",
        "rollout",
        "reward",
    ]
    assert allocate(holder=held_by(uuid.uuid4(), 1), wanted=wanted, chosen=chosen) is None


@pytest.mark.django_db
def test_devices_have_the_names_that_their_maker_gives_them() -> None:
    ensure_local_lanes(num_cpu_lanes=2, gpu_indices=range(2), accelerator="NVIDIA H100 80GB HBM3")
    wanted = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1)
    assert free_devices(LaneKind.GPU, "default") == pool_devices("default") == {"NVIDIA H100 80GB HBM3": 2}
    run_id = allocated(wanted)
    assert run_id is not None
    assert devices_of(run_id, 1) == ("NVIDIA H100 80GB HBM3",) * 2
    assert free_devices(LaneKind.GPU, "default") == {}
    assert pool_devices("default") == {"NVIDIA H100 80GB HBM3": 2}
