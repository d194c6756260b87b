"""Occupancy: at every moment every lane counts once, for its holder, as idle, or for the state that it is in."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Lane, LaneKind, LaneUse, Node, Pool, ServiceState, StateChange
from fleet.states.occupancy import IDLE, OTHERS, TEST, Occupancy, occupancy
from fleet.states.state_changes import change_state, mark_found, mark_lost

pytestmark = pytest.mark.django_db
NOW = timezone.now()
HOUR = timedelta(hours=1)
NUM_GPUS = 3


@pytest.fixture
def lanes(db: None) -> list[Lane]:
    """Three GPUs that have been there for two days."""
    ensure_local_lanes(num_cpu_lanes=1, gpu_indices=range(NUM_GPUS), accelerator="H100")
    Lane.objects.update(created_at=NOW - timedelta(days=2))
    return list(Lane.objects.filter(kind=LaneKind.GPU))


def use(lane: Lane, since: float, until: float | None, project: Project | None = None, **fields: Any) -> LaneUse:
    """Hours before now."""
    return LaneUse.objects.create(
        lane=lane,
        label=lane.label,
        gpus=["GPU-a"],
        role="rollout",
        name_in_run="rollout-0",
        project=project,
        since=NOW - since * HOUR,
        until=None if until is None else NOW - until * HOUR,
        **{"run_id": uuid4(), "attempt": 1, **fields},
    )


def changed(on: Node | Gpu | Lane, state: ServiceState, hours_ago: float) -> None:
    if not change_state(on, state, by="admin", reason="fans" if state is not ServiceState.ACTIVE else ""):
        return
    StateChange.objects.filter(pk=StateChange.objects.latest("pk").pk).update(at=NOW - hours_ago * HOUR)


def last_hours(user: User, hours: float, buckets: int, **options: Any) -> Occupancy:
    return occupancy(user, since=NOW - hours * HOUR, until=NOW, num_buckets=buckets, **options)


def columns(found: Occupancy) -> dict[str, list[float]]:
    return {area.name: [round(lanes, 2) for lanes in area.lanes] for area in found.areas}


def test_lanes_are_a_projects_then_idle(admin: User, project: Project, lanes: list[Lane]) -> None:
    use(lanes[0], 4, 2, project)
    use(lanes[1], 3.5, 2.5, project)
    found = last_hours(admin, 4, 4)
    assert columns(found) == {project.name: [1.5, 1.5, 0, 0], IDLE: [1.5, 1.5, 3, 3]}
    assert {area.name: round(area.lane_hours, 3) for area in found.areas} == {project.name: 3, IDLE: 9}
    assert (found.kind, round(found.bucket_seconds)) == (LaneKind.GPU, 3600)


def test_a_lane_out_of_service_counts_for_its_state_unless_it_is_held(
    admin: User, project: Project, lanes: list[Lane]
) -> None:
    changed(Node.objects.get(), ServiceState.DRAINING, 3)
    changed(Gpu.objects.get(index=0), ServiceState.FAULTY, 2)
    changed(Node.objects.get(), ServiceState.ACTIVE, 1)
    use(lanes[1], 4, 2, project)
    assert columns(last_hours(admin, 4, 4)) == {
        project.name: [1, 1, 0, 0],
        IDLE: [2, 0, 0, 2],
        "draining": [0, 2, 3, 0],
        "faulty": [0, 0, 0, 1],
    }


def test_a_lost_node_takes_all_its_lanes_with_it_and_gives_them_back(admin: User, lanes: list[Lane]) -> None:
    node = Node.objects.get()
    changed(lanes[0], ServiceState.CORDONED, 4)
    mark_lost([node], by="agent", reason="gone", at=NOW - 3 * HOUR)
    mark_found([node], by="agent", at=NOW - HOUR)
    assert columns(last_hours(admin, 4, 4)) == {"idle": [2, 0, 0, 2], "cordoned": [1, 0, 0, 1], "lost": [0, 3, 3, 0]}


def test_what_did_not_change_in_the_window_was_as_it_is_now(admin: User, lanes: list[Lane]) -> None:
    changed(Gpu.objects.get(index=2), ServiceState.MAINTENANCE, 30)
    assert columns(last_hours(admin, 2, 2)) == {IDLE: [2, 2], "maintenance": [1, 1]}


def test_a_gpu_that_was_removed_leaves_its_node_in_service(admin: User, lanes: list[Lane]) -> None:
    changed(Gpu.objects.get(index=2), ServiceState.FAULTY, 1)
    StateChange.objects.update(gpu=None)
    Gpu.objects.filter(index=2).update(state=ServiceState.ACTIVE)
    assert columns(last_hours(admin, 2, 1)) == {IDLE: [3]}


def test_lanes_count_from_when_they_were_made(admin: User, project: Project, lanes: list[Lane]) -> None:
    Lane.objects.filter(pk=lanes[0].pk).update(created_at=NOW - HOUR)
    assert columns(last_hours(admin, 4, 4)) == {IDLE: [2, 2, 2, 3]}
    use(lanes[0], 2, 1, project)
    gone = use(lanes[1], 3, 2, project)
    LaneUse.objects.filter(pk=gone.pk).update(lane=None)
    assert columns(last_hours(admin, 4, 4)) == {project.name: [0, 1, 1, 0], IDLE: [2, 2, 2, 3]}


def test_tests_and_projects_that_are_not_the_users_own_are_summed_up(
    admin: User, alice: User, project: Project, lanes: list[Lane], make_project: Callable[..., Project]
) -> None:
    use(lanes[0], 2, None, project)
    use(lanes[1], 2, 1, make_project("Secret"))
    use(lanes[2], 2, 1, None, run_id=None, attempt=None, test_id=uuid4())
    assert columns(last_hours(admin, 2, 2)) == {
        project.name: [1, 1],
        "Secret": [1, 0],
        "tests of GPUs": [1, 0],
        IDLE: [0, 2],
    }
    of_alice = last_hours(alice, 2, 2)
    assert columns(of_alice) == {project.name: [1, 1], OTHERS: [1, 0], "tests of GPUs": [1, 0], IDLE: [0, 2]}
    assert [area.key for area in of_alice.areas] == [str(project.pk), "", TEST, IDLE]


def test_the_kind_is_asked_for_or_that_of_the_pool(admin: User, lanes: list[Lane]) -> None:
    assert columns(last_hours(admin, 2, 1, kind=LaneKind.CPU)) == {IDLE: [1]}
    Lane.objects.filter(kind=LaneKind.GPU).delete()
    assert last_hours(admin, 2, 1).kind == LaneKind.CPU


def test_a_pool_is_that_of_the_lanes_now(admin: User, project: Project, lanes: list[Lane]) -> None:
    Lane.objects.filter(pk=lanes[0].pk).update(pool=Pool.objects.create(name="fast", match_labels={"a": "b"}, order=1))
    use(lanes[0], 2, 1, project)
    gone = use(lanes[1], 2, 1, project, pool="fast")
    LaneUse.objects.filter(pk=gone.pk).update(lane=None)
    use(lanes[2], 2, 1, project)
    assert columns(last_hours(admin, 2, 2, pool="fast")) == {project.name: [2, 0], IDLE: [0, 1]}
    assert columns(last_hours(admin, 2, 2, pool="default")) == {project.name: [1, 0], IDLE: [1, 2]}
    assert last_hours(admin, 2, 2, pool="nowhere").areas == []


def test_the_future_is_left_out_and_an_empty_window_refused(admin: User, lanes: list[Lane]) -> None:
    found = occupancy(admin, since=NOW - HOUR, until=NOW + 9 * HOUR, num_buckets=2)
    assert found.until <= timezone.now()
    assert columns(found) == {IDLE: [3, 3]}
    with pytest.raises(ValueError, match="must lie before"):
        occupancy(admin, since=NOW + HOUR, until=NOW + 2 * HOUR, num_buckets=2)


quarters = st.integers(1, 40)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    held=st.lists(st.tuples(st.integers(0, NUM_GPUS - 1), quarters, quarters), max_size=6),
    states=st.lists(st.tuples(st.integers(0, 4), quarters, st.sampled_from(list(ServiceState))), max_size=8),
    buckets=st.integers(1, 17),
)
def test_every_lane_counts_once_in_every_bucket(
    admin: User,
    project: Project,
    lanes: list[Lane],
    held: list[tuple[int, int, int]],
    states: list[tuple[int, int, ServiceState]],
    buckets: int,
) -> None:
    LaneUse.objects.all().delete()
    StateChange.objects.all().delete()
    for rows in (Gpu.objects.all(), Node.objects.all(), Lane.objects.all()):
        rows.update(state=ServiceState.ACTIVE, reason="")
    busy: dict[int, list[tuple[int, int]]] = {}
    for lane, one, other in held:
        begin, end = max(one, other), min(one, other)
        if begin > end and all(end >= a or begin <= b for a, b in busy.get(lane, [])):
            busy.setdefault(lane, []).append((begin, end))
            use(lanes[lane], begin / 4, end / 4, project)
    for place, ago, state in sorted(states, key=lambda one: -one[1]):
        places: list[Node | Gpu | Lane] = [Node.objects.get(), *Gpu.objects.order_by("index"), lanes[0]]
        changed(places[place], state, ago / 4)
    found = last_hours(admin, 10, buckets)
    for bucket in range(buckets):
        assert sum(area.lanes[bucket] for area in found.areas) == pytest.approx(NUM_GPUS, abs=0.01)
    of_project = sum(area.lane_hours for area in found.areas if area.category == "project")
    assert of_project == pytest.approx(sum((a - b) / 4 for uses in busy.values() for a, b in uses))
