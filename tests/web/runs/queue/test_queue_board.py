"""The queue as users see it: forecasts and blockers for all, names only of their own projects."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project, User
from fleet.fair_share import Share
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Node, Pool, ServiceState
from fleet.shares.shares import set_share
from fleet.states.state_changes import change_state
from runs.models import Run
from runs.queue.dispatch import dispatch_waiting
from runs.queue.queue_blockers import BlockerKind
from runs.queue.queue_board import QueueRow, RunningRow, queue_rows, running_rows
from runs.queue.queue_places import Direction, move_in_queue
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
MakeRun = Callable[..., Run]


@pytest.fixture
def video(make_project: Callable[..., Project]) -> Project:
    return make_project("Video")


@pytest.fixture
def runs(make_run: MakeRun, project: Project, video: Project) -> list[Run]:
    """Of two projects in turn, the oldest first."""
    began = timezone.now() - timedelta(hours=1)
    owners = (project, video, project)
    return [
        make_run(project=owner, name=f"run {number}", created_at=began + timedelta(seconds=number))
        for number, owner in enumerate(owners)
    ]


def rows(user: User) -> list[QueueRow]:
    return queue_rows(user, DEFAULT_POOL)


def held(user: User) -> list[RunningRow]:
    return running_rows(user, DEFAULT_POOL)


def test_who_is_ahead_is_counted_with_lanes_and_others_are_not_named(runs: list[Run], alice: User, admin: User) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    first, second, third = rows(alice)
    assert (first.run_name, second.run_name, second.run_id, second.why) == (
        "run 0",
        "a run of another project",
        None,
        "",
    )
    assert (third.ahead.num_runs, third.ahead.num_runs_of_others, third.ahead.num_other_projects) == (2, 1, 1)
    assert third.ahead.lanes == {"cpu": 6}
    assert [row.run_name for row in rows(admin)] == ["run 0", "run 1", "run 2"]
    assert (first.may_change, second.may_change, rows(admin)[0].may_change) == (True, False, False)


@pytest.mark.parametrize("placement", ["auto", "disaggregated"])
def test_the_board_of_a_long_queue_takes_no_more_queries_than_that_of_a_short_one(
    admin: User, make_run: MakeRun, make_spec: Callable[..., RunSpec], placement: str
) -> None:
    def num_queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert rows(admin)
        return len(captured)

    ensure_local_lanes(num_cpu_lanes=3)
    spec = make_spec(pipeline={"placement": placement})
    for _ in range(2):
        make_run(spec=spec)
    few = num_queries()
    for number in range(20):
        make_run(spec=spec, name=f"run {number}")
    assert num_queries() == few


def test_blockers_are_typed(runs: list[Run], alice: User, admin: User, make_run: MakeRun, project: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    assert [blocker.kind for blocker in rows(alice)[0].blockers] == [BlockerKind.STARTING]
    assert [blocker.kind for blocker in rows(alice)[2].blockers] == [BlockerKind.RUNS_AHEAD]
    assert dispatch_waiting() == [runs[0].pk]
    (missing,) = rows(alice)[0].blockers
    assert (missing.kind, missing.lane_kind, missing.missing) == (BlockerKind.LANES_HELD, "cpu", 3)
    ensure_local_lanes(num_cpu_lanes=2)
    assert [blocker.kind for blocker in rows(alice)[0].blockers] == [BlockerKind.POOL_TOO_SMALL]


def test_what_is_out_of_service_says_where_and_why(runs: list[Run], alice: User) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    change_state(Node.objects.get(), ServiceState.CORDONED, by="ada", reason="new fans")
    (blocker,) = rows(alice)[0].blockers
    assert blocker.kind is BlockerKind.OUT_OF_SERVICE
    assert "new fans" in blocker.text and "by ada" in blocker.text


def test_a_limit_is_a_blocker_of_its_own(runs: list[Run], alice: User, admin: User, project: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=9)
    set_share(user=admin, project=project, pool=Pool.objects.get(), limit=3)
    *_, stopped = rows(alice)
    assert (stopped.position, [blocker.kind for blocker in stopped.blockers]) == (None, [BlockerKind.QUOTA])


def test_what_an_admin_moved_is_said_to_everybody(runs: list[Run], alice: User, admin: User) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    move_in_queue(user=admin, run=runs[1], direction=Direction.FRONT, reason="deadline")
    first = rows(alice)[0]
    assert first.moved is not None
    assert (first.run_id, first.moved.words, first.moved.by, first.moved.reason) == (
        None,
        "moved to the front",
        "pool-admin",
        "deadline",
    )


def test_holders_are_listed_with_their_lanes_and_named_to_their_project_only(
    runs: list[Run], alice: User, admin: User
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    assert len(dispatch_waiting()) == 2
    assert {row.run_name for row in held(alice)} == {"run 0", "a run of another project"}
    other = next(row for row in held(alice) if row.run_id is None)
    assert (other.lanes, other.num_batches, other.project_name) == ({"cpu": 3}, None, "")
    assert {row.run_name for row in held(admin)} == {"run 0", "run 1"}


def test_a_policy_is_tried_by_admins_only_and_changes_nothing(
    runs: list[Run], alice: User, admin: User, video: Project, make_spec: Callable[..., RunSpec]
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    tried = queue_rows(admin, DEFAULT_POOL, {video.pk: Share(guaranteed=3)})
    assert [row.run_name for row in tried] == ["run 1", "run 0", "run 2"]
    assert [row.run_name for row in queue_rows(admin, DEFAULT_POOL, {}, 0.5)] == ["run 0", "run 1", "run 2"]
    assert [row.run_name for row in rows(admin)] == ["run 0", "run 1", "run 2"]
    with pytest.raises(PermissionDenied):
        queue_rows(alice, DEFAULT_POOL, {})
    with pytest.raises(PermissionDenied):
        queue_rows(alice, DEFAULT_POOL, None, 2.0)
