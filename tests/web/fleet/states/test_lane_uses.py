import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Lane, LaneKind, LaneUse, Node
from fleet.services import LaneHolder, allocate, allocate_for_preview, release, release_preview
from tests.web.lane_holders import held_by, held_for_preview
from worker.contracts.lanes import DEFAULT_POOL, LaneSpec, gpu_resource

THREE = LaneSpec(num_rollout=1, num_trainer=1, num_reward=1)


def open_uses() -> set[int | None]:
    return set(LaneUse.objects.filter(until=None).values_list("lane_id", flat=True))


@pytest.mark.django_db
def test_each_gpu_lane_has_its_gpu_and_a_gpu_taken_away_goes_with_its_lane() -> None:
    ensure_local_lanes(num_cpu_lanes=1, gpu_indices=range(3), accelerator="H100")
    assert {lane.label: lane.device for lane in Lane.objects.all()} == {
        "local/cpu-0": "cpu",
        "local/gpu-0": "0",
        "local/gpu-1": "1",
        "local/gpu-2": "2",
    }
    ensure_local_lanes(num_cpu_lanes=1, gpu_indices=range(2), accelerator="H100")
    assert [(gpu.index, gpu.accelerator, gpu.resource) for gpu in Gpu.objects.all()] == [
        (index, "H100", gpu_resource("local", index)) for index in range(2)
    ]


@pytest.mark.django_db
def test_a_lane_of_several_gpus_grants_them_all_and_its_use_names_them() -> None:
    node = Node.objects.create(name="big")
    lane = Lane.objects.create(node=node, pool_id=DEFAULT_POOL, kind=LaneKind.GPU, index=4, label="big/gpu-4")
    for index, identity in ((4, ""), (5, "GPU-5e1f")):
        Gpu.objects.create(node=node, lane=lane, index=index, uuid=identity, resource=gpu_resource("big", index))
    granted = allocate_for_preview(held_for_preview(uuid.uuid4(), uuid.uuid4()), DEFAULT_POOL)
    assert granted is not None
    assert (granted.device, granted.resources) == ("4,5", ("tandem-big-gpu-4", "tandem-big-gpu-5"))
    assert LaneUse.objects.get().gpus == ["big/gpu-4", "GPU-5e1f"]


@pytest.mark.django_db
def test_a_use_says_who_had_the_lane_for_what_from_when_until_when() -> None:
    ensure_local_lanes(num_cpu_lanes=1, gpu_indices=range(2), accelerator="L40S")
    owner, project = User.objects.create(username="rika"), Project.objects.create(name="shapes")
    run_id, began = uuid.uuid4(), timezone.now()
    holder = LaneHolder(run_id=run_id, attempt=3, project_id=project.pk, user_id=owner.pk)
    assert allocate(holder=holder, wanted=THREE) is not None
    trainer = LaneUse.objects.get(role="trainer")
    assert (trainer.label, trainer.gpus, trainer.accelerator) == ("local/gpu-0", ["local/gpu-0"], "L40S")
    assert (trainer.run_id, trainer.attempt, trainer.name_in_run) == (run_id, 3, "trainer-0")
    assert (trainer.project, trainer.user, trainer.borrowed_from) == (project, owner, None)
    assert trainer.since >= began
    assert trainer.until is None
    release(run_id=run_id, attempt=3)
    trainer.refresh_from_db()
    assert trainer.until is not None
    assert trainer.until >= trainer.since


@pytest.mark.django_db
def test_uses_outlive_the_lane_the_project_and_the_user() -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    owner, project = User.objects.create(username="rika"), Project.objects.create(name="shapes")
    run_id = uuid.uuid4()
    allocate(
        holder=LaneHolder(run_id=run_id, attempt=1, project_id=project.pk, user_id=owner.pk),
        wanted=THREE,
    )
    release(run_id=run_id, attempt=1)
    ensure_local_lanes(num_cpu_lanes=0)
    owner.delete()
    project.delete()
    uses = LaneUse.objects.all()
    assert sorted(use.label for use in uses) == ["local/cpu-0", "local/cpu-1", "local/cpu-2"]
    assert all(use.lane is None and use.project is None and use.user is None for use in uses)


@pytest.mark.django_db
def test_a_lane_given_again_gets_a_use_of_its_own_and_the_old_one_stays() -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    for _ in range(2):
        preview_id = uuid.uuid4()
        allocate_for_preview(held_for_preview(preview_id, uuid.uuid4()), DEFAULT_POOL)
        assert release_preview(preview_id) == 1
        assert release_preview(preview_id) == 0
    first, second = LaneUse.objects.all()
    assert first.until is not None
    assert first.until <= second.since


def double_use() -> None:
    lane = Lane.objects.get()
    for _ in range(2):
        LaneUse.objects.create(
            lane=lane,
            label=lane.label,
            run_id=uuid.uuid4(),
            role="rollout",
            name_in_run="rollout-0",
            since=timezone.now(),
        )


def backward_use() -> None:
    since = timezone.now()
    LaneUse.objects.create(
        label="x",
        run_id=uuid.uuid4(),
        role="rollout",
        name_in_run="rollout-0",
        since=since,
        until=since - timedelta(seconds=1),
    )


@pytest.mark.django_db
@pytest.mark.parametrize("act", [double_use, backward_use])
def test_the_database_refuses_uses_that_cannot_be(act: Callable[[], None]) -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    with pytest.raises(IntegrityError):
        act()


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(["take", "free", "preview"]), st.integers(0, 3)), max_size=12))
def test_a_lane_is_held_exactly_as_long_as_it_has_an_open_use(steps: list[tuple[str, int]]) -> None:
    ensure_local_lanes(num_cpu_lanes=5)
    runs = [uuid.uuid4() for _ in range(4)]
    for number, (kind, which) in enumerate(steps, start=1):
        if kind == "take":
            allocate(holder=held_by(runs[which], number), wanted=THREE)
        elif kind == "preview":
            allocate_for_preview(held_for_preview(uuid.uuid4(), runs[which]), DEFAULT_POOL)
        else:
            for attempt in range(1, number):
                release(run_id=runs[which], attempt=attempt)
        assert open_uses() == set(Lane.objects.exclude(run_id=None).values_list("pk", flat=True))
