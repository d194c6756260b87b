"""A node that has to be empty by a time: its runs move to other lanes, shrink, or wait for lanes from a checkpoint."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Lane, Node, ServiceState
from fleet.services import release_lanes
from fleet.states.drains import FAULT_GRACE
from fleet.states.state_changes import change_state, mark_lost
from runs.models import Attempt, AttemptOutcome, PendingCommand, Run, RunResize
from runs.resizing.draining import MAX_RESIZES, drains, move_runs_off
from tests.web.fleet.node_posts import alive, card, post_node
from worker.contracts.commands import CommandKind
from worker.contracts.resizing import ResizeCause, ResizeState
from worker.contracts.run_spec import RunSpec
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db
LiveRun = Callable[..., Attempt]
HOUR = timedelta(hours=1)


@pytest.fixture
def attempt(live_run: LiveRun, project: Project, alice: User) -> Attempt:
    """A running attempt with one lane of each role, all on the node `local`."""
    return live_run(project=project, created_by=alice)


def drain(until: timedelta | None) -> Node:
    node = Node.objects.get(name="local")
    deadline = None if until is None else timezone.now() + until
    change_state(node, ServiceState.DRAINING, by="pool-admin", reason="new fans", until=deadline)
    return node


def pass_deadline() -> None:
    Node.objects.filter(name="local").update(state_until=timezone.now() - timedelta(seconds=1))


def commands(run: Run, kind: CommandKind) -> list[PendingCommand]:
    return list(PendingCommand.objects.filter(run=run, kind=kind))


def nodes_of(run: Run) -> set[str]:
    return set(Lane.objects.filter(run_id=run.pk).values_list("node__name", flat=True))


def test_without_a_deadline_a_drain_waits_for_runs_to_end(attempt: Attempt) -> None:
    ensure_local_lanes(num_cpu_lanes=3, node="other")
    drain(None)
    assert (drains(), move_runs_off()) == ([], 0)


def test_free_lanes_elsewhere_join_and_the_drained_ones_leave(attempt: Attempt) -> None:
    ensure_local_lanes(num_cpu_lanes=3, node="other")
    drain(HOUR)
    assert move_runs_off() == 1
    (resize,) = RunResize.objects.all()
    assert (resize.cause, resize.requested_by) == (ResizeCause.DRAIN, None)
    (command,) = commands(attempt.run, CommandKind.RESIZE)
    asked = command.args["resize"]
    assert sorted(asked["release"]) == ["reward-0", "rollout-0", "trainer-0"]
    assert sorted((grant["role"], grant["node"]) for grant in asked["add"]) == [
        ("reward", "other"),
        ("rollout", "other"),
        ("trainer", "other"),
    ]
    assert move_runs_off() == 0, "one resize at a time"


def test_where_no_lane_is_free_an_elastic_run_shrinks(live_run: LiveRun, project: Project, alice: User) -> None:
    spec = RunSpec.model_validate(
        {
            "prompts": {"inline": ["a", "b", "c"]},
            "rewards": [{"name": "shape_match"}],
            "batch": {"num_prompts_per_batch": 2, "group_size": 2},
            "num_batches": 2,
            "lanes": {"num_rollout": 2},
            "elastic": {"min_rollout": 1},
        }
    )
    attempt = live_run(spec=spec, project=project, created_by=alice)
    ensure_local_lanes(num_cpu_lanes=1, node="other")
    lane = Lane.objects.get(run_id=attempt.run_id, name_in_run="rollout-1")
    Lane.objects.filter(pk=lane.pk).update(node=Node.objects.get(name="other"), index=9, label="other/cpu-9")
    other = Node.objects.get(name="other")
    Node.objects.filter(name="local").update(state=ServiceState.CORDONED)
    Lane.objects.filter(node=other, run_id=None).delete()
    change_state(other, ServiceState.DRAINING, by="pool-admin", reason="x", until=timezone.now() + HOUR)
    assert move_runs_off() == 1
    (command,) = commands(attempt.run, CommandKind.RESIZE)
    assert (command.args["resize"]["release"], command.args["resize"]["add"]) == (["rollout-1"], [])


def test_lanes_of_a_lost_node_are_replaced_where_others_are_free(attempt: Attempt) -> None:
    mark_lost(Node.objects.filter(name="local"), by="node agent", reason="Ray leaves it out", at=timezone.now())
    assert move_runs_off() == 0, "nothing is free, and the run goes on without them as long as it can"
    Node.objects.filter(name="local").update(lost_since=timezone.now() - HOUR)
    assert move_runs_off() == 0
    assert not PendingCommand.objects.exists(), "it is not stopped for what does no harm"
    ensure_local_lanes(num_cpu_lanes=3, node="other")
    assert move_runs_off() == 1
    (command,) = commands(attempt.run, CommandKind.RESIZE)
    assert {grant["node"] for grant in command.args["resize"]["add"]} == {"other"}


def test_where_nothing_can_be_done_the_run_works_until_the_deadline(attempt: Attempt) -> None:
    drain(HOUR)
    assert move_runs_off() == 0
    assert not PendingCommand.objects.exists()


def test_at_the_deadline_the_run_is_saved_and_waits_for_other_lanes(attempt: Attempt) -> None:
    drain(HOUR)
    pass_deadline()
    assert move_runs_off() == 0
    (saving,) = commands(attempt.run, CommandKind.CHECKPOINT_NOW)
    assert move_runs_off() == 0, "the driver saves"
    Run.objects.filter(pk=attempt.run_id).update(resume_from="file:///checkpoint", resume_batch=7)
    PendingCommand.objects.filter(pk=saving.pk).update(done_at=timezone.now(), accepted=True)
    assert move_runs_off() == 1
    attempt.refresh_from_db()
    run = Run.objects.get(pk=attempt.run_id)
    assert (attempt.outcome, run.run_state) == (AttemptOutcome.MOVED, RunState.STARTING)
    assert "goes on from batch 7 on other lanes" in attempt.detail
    assert move_runs_off() == 0


def test_a_driver_that_does_not_save_in_time_is_moved_nevertheless(attempt: Attempt) -> None:
    drain(HOUR)
    pass_deadline()
    move_runs_off()
    PendingCommand.objects.update(created_at=timezone.now() - timedelta(minutes=3))
    Node.objects.update(state_until=timezone.now() - timedelta(minutes=4))
    assert move_runs_off() == 1
    attempt.refresh_from_db()
    assert "from the beginning" in attempt.detail


def test_a_run_that_stops_is_left_to_its_end(live_run: LiveRun, project: Project, alice: User) -> None:
    live_run(state=RunState.STOPPING, project=project, created_by=alice)
    drain(HOUR)
    pass_deadline()
    assert move_runs_off() == 0
    assert not PendingCommand.objects.exists()


def test_resizes_that_fail_again_and_again_are_given_up(attempt: Attempt) -> None:
    ensure_local_lanes(num_cpu_lanes=3, node="other")
    drain(HOUR)
    for _ in range(MAX_RESIZES):
        assert move_runs_off() == 1
        (resize,) = RunResize.objects.filter(ended_at=None)
        release_lanes(run_id=attempt.run_id, attempt=attempt.number, names=resize.added)
        RunResize.objects.filter(pk=resize.pk).update(state=ResizeState.FAILED, ended_at=timezone.now())
    assert move_runs_off() == 0
    assert RunResize.objects.count() == MAX_RESIZES


def gpu_run(live_run: LiveRun, **fields: object) -> tuple[Attempt, Gpu]:
    """A run on two of three cards, and the card that generates."""
    post_node(alive("gpu0"), *(card(f"GPU-{number}", number) for number in range(3)))
    attempt = live_run(**fields)
    return attempt, Gpu.objects.get(lane__name_in_run="rollout-0")


def fail(gpu: Gpu) -> None:
    """Its driver counts a double-bit error."""
    cards = (card(f"GPU-{number}", number, xids={48: 1} if number == gpu.index else {}) for number in range(3))
    post_node(alive("gpu0"), *cards)


def test_a_run_moves_off_a_gpu_that_fails_to_another_of_its_kind(
    live_run: LiveRun, project: Project, alice: User
) -> None:
    attempt, gpu = gpu_run(live_run, project=project, created_by=alice)
    assert move_runs_off() == 0
    fail(gpu)
    assert move_runs_off() == 1
    (command,) = commands(attempt.run, CommandKind.RESIZE)
    asked = command.args["resize"]
    assert asked["release"] == ["rollout-0"]
    assert [(grant["role"], grant["uuids"]) for grant in asked["add"]] == [("rollout", ["GPU-2"])]


def test_where_no_other_gpu_is_free_it_saves_and_waits_for_one(
    live_run: LiveRun, project: Project, alice: User
) -> None:
    attempt, gpu = gpu_run(live_run, project=project, created_by=alice)
    Gpu.objects.filter(uuid="GPU-2").update(state=ServiceState.CORDONED)
    fail(gpu)
    assert move_runs_off() == 0
    assert not PendingCommand.objects.exists(), "another GPU may come free within the grace"
    Gpu.objects.filter(pk=gpu.pk).update(state_since=timezone.now() - FAULT_GRACE)
    assert move_runs_off() == 0
    PendingCommand.objects.filter(kind=CommandKind.CHECKPOINT_NOW).update(done_at=timezone.now(), accepted=True)
    assert move_runs_off() == 1
    attempt.refresh_from_db()
    assert attempt.outcome == AttemptOutcome.MOVED
    name = f"{gpu.uuid} has failed (Xid 48: double-bit error in memory)"
    assert attempt.detail == f"{name}: the run goes on from the beginning on other lanes"
