"""However an attempt ends, its lanes come free once its job is over, and their uses are closed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.models import Project, User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, LaneUse, Node, ServiceState
from fleet.selectors import free_lanes, pool_lanes
from fleet.states.state_changes import change_state
from runs.attempts.launch import launch
from runs.attempts.reconciler import Reconciler
from runs.cluster import JobStatus
from runs.command_services import request_command
from runs.models import Attempt, PendingCommand, Run
from runs.queue.dispatch import dispatch_waiting
from runs.reports.driver_reports import apply_event
from runs.resizing.draining import move_runs_off
from runs.services import delete_run
from tests.web.fake_cluster import FakeCluster
from worker.contracts.events import StateEvent
from worker.contracts.lane_events import LanesEvent
from worker.contracts.lanes import LaneInfo
from worker.contracts.names import LaneRole
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(days=1)


@dataclass
class World:
    """What ends attempts."""

    user: User
    cluster: FakeCluster
    reconciler: Reconciler

    def job_ends(self, attempt: Attempt, how: JobStatus = JobStatus.SUCCEEDED) -> None:
        self.cluster.jobs[attempt.submission_id] = how


def reported(state: RunState) -> Callable[[World, Attempt], None]:
    def end(world: World, attempt: Attempt) -> None:
        apply_event(attempt.run_id, 1, StateEvent(seq=1, at=0.0, state=state, reason="it is over"))
        world.job_ends(attempt, JobStatus.FAILED if state is RunState.FAILED else JobStatus.SUCCEEDED)

    end.__name__ = f"the driver reports {state}"
    return end


def stopped_by_its_user(world: World, attempt: Attempt) -> None:
    request_command(user=world.user, run=attempt.run, kind="stop")
    reported(RunState.STOPPED)(world, attempt)


def cancelled_and_deaf(world: World, attempt: Attempt) -> None:
    request_command(user=world.user, run=attempt.run, kind="cancel")
    Run.objects.filter(pk=attempt.run_id).update(ending_at=timezone.now() - LONG_AGO)


def parked_after_a_long_pause(world: World, attempt: Attempt) -> None:
    Run.objects.filter(pk=attempt.run_id).update(state="paused", state_changed_at=timezone.now() - LONG_AGO)
    world.reconciler.tick()
    PendingCommand.objects.filter(run=attempt.run).update(done_at=timezone.now(), accepted=True)


def job_killed(world: World, attempt: Attempt) -> None:
    world.job_ends(attempt, JobStatus.FAILED)


def driver_silent(world: World, attempt: Attempt) -> None:
    past = timezone.now() - LONG_AGO
    Run.objects.filter(pk=attempt.run_id).update(last_heartbeat_at=past)
    Attempt.objects.filter(pk=attempt.pk).update(bootstrap_used_at=past)


def cluster_restarted(world: World, attempt: Attempt) -> None:
    del world.cluster.jobs[attempt.submission_id]
    Attempt.objects.filter(pk=attempt.pk).update(submitted_at=timezone.now() - LONG_AGO)


def run_deleted(world: World, attempt: Attempt) -> None:
    reported(RunState.COMPLETED)(world, attempt)
    delete_run(user=world.user, run=Run.objects.get(pk=attempt.run_id))


def project_deleted(world: World, attempt: Attempt) -> None:
    reported(RunState.COMPLETED)(world, attempt)
    attempt.run.project.delete()


def project_deleted_while_the_driver_works(world: World, attempt: Attempt) -> None:
    attempt.run.project.delete()
    world.job_ends(attempt, JobStatus.STOPPED)


def moved_off_a_drained_node(world: World, attempt: Attempt) -> None:
    node = Node.objects.get()
    change_state(node, ServiceState.DRAINING, by="admin", reason="fans", until=timezone.now() + LONG_AGO)
    Node.objects.update(state_until=timezone.now() - LONG_AGO)
    move_runs_off()
    PendingCommand.objects.filter(run=attempt.run).update(done_at=timezone.now(), accepted=True)
    move_runs_off()
    Node.objects.update(state=ServiceState.ACTIVE)


def wrong_device(world: World, attempt: Attempt) -> None:
    seen = LaneInfo(lane="trainer-0", role=LaneRole.TRAINER, node="local", device="cpu", pid=1, uuids=("GPU-x",))
    apply_event(attempt.run_id, 1, LanesEvent(seq=1, at=0.0, lanes=(seen,), algebra=attempt.run.batch_algebra))
    reported(RunState.FAILED)(world, attempt)


ENDS = [
    *map(reported, (RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED, RunState.STOPPED)),
    stopped_by_its_user,
    cancelled_and_deaf,
    parked_after_a_long_pause,
    job_killed,
    driver_silent,
    cluster_restarted,
    run_deleted,
    project_deleted,
    project_deleted_while_the_driver_works,
    moved_off_a_drained_node,
    wrong_device,
]


@pytest.fixture
def world(alice: User, cluster: FakeCluster, reconciler: Reconciler, settings: Settings) -> World:
    settings.TANDEM_MAX_PAUSE_SECONDS = 60
    return World(alice, cluster, reconciler)


def assert_all_is_free() -> None:
    assert not Lane.objects.exclude(held_since=None).exists()
    assert free_lanes() == pool_lanes()
    assert LaneUse.objects.exists()
    assert not LaneUse.objects.filter(until=None).exists()


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__.replace("_", " "))
def test_a_working_attempt_that_ends_frees_its_lanes(
    world: World, live_run: Callable[..., Attempt], project: Project, end: Callable[[World, Attempt], None]
) -> None:
    attempt = live_run(project=project, created_by=world.user)
    assert Lane.objects.filter(run_id=attempt.run_id).count() == 3
    end(world, attempt)
    # Whoever sees the end stops the job in one round, and frees its lanes in the next at the latest.
    for _ in range(3):
        world.reconciler.tick()
    assert_all_is_free()


def cancelled_before_its_launch(world: World, attempt: Attempt) -> None:
    request_command(user=world.user, run=Run.objects.get(pk=attempt.run_id), kind="cancel")


def cancelled_while_its_job_starts(world: World, attempt: Attempt) -> None:
    assert launch(run_id=attempt.run_id, number=1, gateway=world.cluster)
    cancelled_before_its_launch(world, attempt)


def launch_refused(world: World, attempt: Attempt) -> None:
    spec = attempt.run.spec
    Run.objects.filter(pk=attempt.run_id).update(spec={**spec, "base_model": {**spec["base_model"], "path": "../x"}})
    assert not launch(run_id=attempt.run_id, number=1, gateway=world.cluster)


def job_over_before_it_began(world: World, attempt: Attempt) -> None:
    assert launch(run_id=attempt.run_id, number=1, gateway=world.cluster)
    world.job_ends(attempt, JobStatus.FAILED)


def never_bootstrapped(world: World, attempt: Attempt) -> None:
    assert launch(run_id=attempt.run_id, number=1, gateway=world.cluster)
    past = timezone.now() - LONG_AGO
    Attempt.objects.filter(pk=attempt.pk).update(submitted_at=past, created_at=past, bootstrap_expires_at=past)


EARLY_ENDS = [
    cancelled_before_its_launch,
    cancelled_while_its_job_starts,
    launch_refused,
    job_over_before_it_began,
    never_bootstrapped,
    project_deleted_while_the_driver_works,
]


@pytest.mark.parametrize("end", EARLY_ENDS, ids=lambda end: end.__name__.replace("_", " "))
def test_an_attempt_that_ends_before_it_works_frees_its_lanes(
    world: World,
    make_run: Callable[..., Run],
    project: Project,
    end: Callable[[World, Attempt], None],
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run(project=project, created_by=world.user)
    assert dispatch_waiting() == [run.pk]
    end(world, Attempt.objects.select_related("run").get(run=run))
    for _ in range(3):
        world.reconciler.tick()
    assert_all_is_free()


def test_a_run_cancelled_in_the_queue_never_had_lanes(
    world: World, make_run: Callable[..., Run], project: Project
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run(project=project, created_by=world.user)
    request_command(user=world.user, run=run, kind="cancel")
    assert dispatch_waiting() == []
    assert free_lanes() == pool_lanes()
    assert not LaneUse.objects.exists()
