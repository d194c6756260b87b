"""Admins move runs in the queue: with a reason, until the run starts or the move is undone."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from accounts.models import Project, User
from audit.models import AuditEntry
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Pool
from fleet.shares.shares import set_share
from runs.models import QueuePlace, Run
from runs.queue.asked_lanes import set_priority
from runs.queue.dispatch import dispatch_waiting
from runs.queue.queue_places import Direction, move_in_queue, undo_move
from runs.run_queue import current_queue
from runs.transitions import RunStateConflict
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(make_run: Callable[..., Run], project: Project) -> list[Run]:
    """Four runs that wait, the oldest first."""
    began = timezone.now() - timedelta(hours=1)
    return [make_run(project=project, created_at=began + timedelta(seconds=number)) for number in range(4)]


def order(runs: list[Run]) -> list[int]:
    return [runs.index(run) for run in current_queue(DEFAULT_POOL).in_turn]


def test_a_run_is_moved_to_the_front_up_and_down_and_back(admin: User, runs: list[Run]) -> None:
    move_in_queue(user=admin, run=runs[3], direction=Direction.FRONT, reason="deadline")
    assert order(runs) == [3, 0, 1, 2]
    move_in_queue(user=admin, run=runs[2], direction=Direction.UP, reason="small")
    assert order(runs) == [3, 0, 2, 1]
    move_in_queue(user=admin, run=runs[3], direction=Direction.DOWN, reason="not so urgent")
    assert order(runs) == [0, 3, 2, 1]
    undo_move(user=admin, run=runs[2])
    assert order(runs) == [0, 3, 1, 2]
    undo_move(user=admin, run=runs[3])
    assert order(runs) == [0, 1, 2, 3]
    actions = [entry.action for entry in AuditEntry.objects.order_by("pk")]
    assert actions == ["run.move_in_queue"] * 3 + ["run.undo_move"] * 2


def test_a_place_falls_as_those_ahead_start_and_newcomers_come_after_it(
    admin: User,
    runs: list[Run],
    make_run: Callable[..., Run],
    make_spec: Callable[..., RunSpec],
    project: Project,
) -> None:
    move_in_queue(user=admin, run=runs[3], direction=Direction.UP, reason="deadline")
    urgent = make_run(project=project, spec=make_spec(priority="high"))
    all_of = [*runs, urgent]
    assert order(all_of) == [4, 0, 3, 1, 2], "two runs are ahead of it, as before"
    Run.objects.filter(pk=runs[0].pk).update(state="cancelled")
    assert order(all_of) == [4, 3, 1, 2]


def test_a_place_is_void_once_the_run_has_had_lanes(admin: User, runs: list[Run]) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    move_in_queue(user=admin, run=runs[2], direction=Direction.FRONT, reason="deadline")
    assert dispatch_waiting() == [runs[2].pk]
    Run.objects.filter(pk=runs[2].pk).update(state="queued")
    assert order(runs) == [0, 1, 2, 3]


def test_a_limit_stops_a_run_wherever_it_is_and_the_front_gets_what_is_left_of_it(
    admin: User, runs: list[Run], project: Project
) -> None:
    ensure_local_lanes(num_cpu_lanes=9)
    set_share(user=admin, project=project, pool=Pool.objects.get(pk=DEFAULT_POOL), limit=3)
    assert order(runs) == [0]
    move_in_queue(user=admin, run=runs[2], direction=Direction.FRONT, reason="deadline")
    assert order(runs) == [2]
    assert dispatch_waiting() == [runs[2].pk]
    assert order(runs) == []


def test_only_admins_move_runs_and_only_with_a_reason(admin: User, alice: User, runs: list[Run]) -> None:
    with pytest.raises(PermissionDenied):
        move_in_queue(user=alice, run=runs[3], direction=Direction.FRONT, reason="mine")
    with pytest.raises(PermissionDenied):
        undo_move(user=alice, run=runs[3])
    with pytest.raises(ValidationError, match="reason"):
        move_in_queue(user=admin, run=runs[3], direction=Direction.FRONT, reason="  ")
    with pytest.raises(ValidationError, match="first one already"):
        move_in_queue(user=admin, run=runs[0], direction=Direction.UP, reason="why not")
    with pytest.raises(ValidationError, match="last one already"):
        move_in_queue(user=admin, run=runs[3], direction=Direction.DOWN, reason="why not")
    Run.objects.filter(pk=runs[3].pk).update(state="running")
    with pytest.raises(ValidationError, match="must wait"):
        move_in_queue(user=admin, run=runs[3], direction=Direction.FRONT, reason="why not")
    assert not QueuePlace.objects.exists()


def test_owners_set_the_priority_of_waiting_runs_within_their_project(
    alice: User, viewer: User, runs: list[Run]
) -> None:
    set_priority(user=alice, run=runs[3], priority="high")
    assert order(runs) == [3, 0, 1, 2]
    assert AuditEntry.objects.get().changes == {"priority": "high"}
    with pytest.raises(PermissionDenied):
        set_priority(user=viewer, run=runs[3], priority="low")
    Run.objects.filter(pk=runs[3].pk).update(state="running")
    with pytest.raises(RunStateConflict):
        set_priority(user=alice, run=runs[3], priority="low")
