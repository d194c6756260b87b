"""The lanes that a lost driver has left: its run goes on with them, or they are ended before anybody else has them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Project, User
from fleet.models import Lane, LaneLoan, LaneUse, Node, ServiceState
from fleet.selectors import free_lanes, grants_of, pool_lanes
from runs.attempts.lane_handover import ENTRYPOINT, go_on
from runs.attempts.launch import launch
from runs.attempts.reconciler import Reconciler
from runs.cluster import JobStatus, RayNode
from runs.command_services import request_command
from runs.models import Attempt, AttemptOutcome, PlanRevision, Run
from runs.queue.dispatch import dispatch_waiting
from tests.web.fake_cluster import FakeCluster
from worker.contracts.left_lanes import LEFT_LANES_VARIABLE, LeftLanes
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
LiveRun = Callable[..., Attempt]
RESUMED: dict[str, Any] = {"resume_from": "file:///c/b4", "resume_batch": 4}


def lose(attempt: Attempt, cluster: FakeCluster, reconciler: Reconciler) -> None:
    """Its driver is killed, and the reconciler has a round."""
    cluster.jobs[attempt.submission_id] = JobStatus.FAILED
    reconciler.tick()


def holders() -> set[tuple[object, int | None]]:
    return set(Lane.objects.exclude(held_since=None).values_list("run_id", "attempt"))


def test_a_run_goes_on_with_the_lanes_that_its_lost_driver_has_left(
    live_run: LiveRun, reconciler: Reconciler, cluster: FakeCluster
) -> None:
    attempt = live_run(**RESUMED)
    before = grants_of(attempt.run_id, 1)
    lose(attempt, cluster, reconciler)
    again = Attempt.objects.get(run=attempt.run, number=2)
    assert (again.ended_at, again.resumed_from) == (None, "file:///c/b4")
    assert grants_of(attempt.run_id, 2) == before, "the same lanes with the same names"
    assert holders() == {(attempt.run_id, 2)}
    uses = LaneUse.objects.filter(run_id=attempt.run_id)
    assert uses.filter(attempt=1, until=None).count() == 0
    assert uses.filter(attempt=2, until=None).count() == len(before)
    assert dispatch_waiting() == [], "it waits for nothing"
    assert launch(run_id=attempt.run_id, number=2, gateway=cluster)
    reconciler.tick()
    assert holders() == {(attempt.run_id, 2)}
    assert set(cluster.jobs) == {attempt.submission_id, again.submission_id}, "no job ends lanes that are used"


def test_it_goes_on_with_the_plan_that_it_had(live_run: LiveRun, reconciler: Reconciler, cluster: FakeCluster) -> None:
    attempt = live_run(**RESUMED)
    spec = attempt.run.run_spec
    changed = spec.model_copy(update={"pipeline": spec.pipeline.model_copy(update={"gap": False})})
    plan: dict[str, Any] = {"mode": "gap", "trainers": [1], "devices": ["cpu", "cpu"]}
    PlanRevision.objects.create(
        run=attempt.run,
        attempt=attempt,
        number=1,
        since_batch=0,
        reason="",
        spec=changed.model_dump(mode="json"),
        plan=plan,
    )
    lose(attempt, cluster, reconciler)
    again = Attempt.objects.get(run=attempt.run, number=2)
    assert again.concrete_spec == changed
    assert again.plan_revision is not None and again.plan_revision.plan == plan
    assert again.plan_revision.reason == "goes on from batch 4 on the lanes that it has"


def cordoned(attempt: Attempt) -> None:
    Node.objects.update(state=ServiceState.CORDONED)


def without_a_checkpoint(attempt: Attempt) -> None:
    Run.objects.filter(pk=attempt.run_id).update(resume_from="", resume_batch=0)


def with_a_lane_less(attempt: Attempt) -> None:
    lane = Lane.objects.filter(run_id=attempt.run_id).order_by("pk")[:1]
    Lane.objects.filter(pk__in=lane).update(run_id=None, attempt=None, held_since=None, role="", name_in_run="")


def with_a_borrowed_lane(attempt: Attempt) -> None:
    lane = Lane.objects.filter(run_id=attempt.run_id)[0]
    LaneLoan.objects.create(
        lane=lane,
        label=lane.label,
        run_id=attempt.run_id,
        attempt=1,
        name_in_run=lane.name_in_run,
        role=lane.role,
        since=timezone.now(),
    )


@pytest.mark.parametrize(
    "change",
    [cordoned, without_a_checkpoint, with_a_lane_less, with_a_borrowed_lane],
    ids=lambda change: change.__name__,
)
def test_else_they_are_ended_first_and_the_run_waits_for_lanes(
    live_run: LiveRun, reconciler: Reconciler, cluster: FakeCluster, change: Callable[[Attempt], None]
) -> None:
    attempt = live_run(**RESUMED)
    change(attempt)
    cluster.is_ending_slow = True
    left = {grant.lane for grant in grants_of(attempt.run_id, 1)}
    lose(attempt, cluster, reconciler)
    assert not Attempt.objects.filter(run=attempt.run, number=2).exists()
    ending = f"{attempt.submission_id}-lanes"
    assert cluster.entrypoints[ending] == ENTRYPOINT
    told = LeftLanes.model_validate_json(cluster.envs[ending][LEFT_LANES_VARIABLE])
    assert (told.run, told.attempt, set(told.lanes)) == (attempt.run_id, 1, left)
    reconciler.tick()
    assert holders() == {(attempt.run_id, 1)}, "nobody else has them while a process may be left"
    assert dispatch_waiting() == [], "nor has the run others"
    cluster.jobs[ending] = JobStatus.SUCCEEDED
    reconciler.tick()
    assert holders() == set()


def test_it_does_not_go_on_where_ray_does_not_count_a_node_as_alive(
    live_run: LiveRun, reconciler: Reconciler, cluster: FakeCluster
) -> None:
    attempt = live_run(**RESUMED)
    cluster.alive = (RayNode(label="another", has_gpus=False),)
    lose(attempt, cluster, reconciler)
    assert not Attempt.objects.filter(run=attempt.run, number=2).exists()
    assert holders() == set()


def test_a_run_that_was_lost_too_often_leaves_nothing(
    live_run: LiveRun, make_spec: Callable[..., RunSpec], reconciler: Reconciler, cluster: FakeCluster
) -> None:
    attempt = live_run(spec=make_spec(max_attempts=1), **RESUMED)
    lose(attempt, cluster, reconciler)
    assert Run.objects.get(pk=attempt.run_id).state == "failed"
    assert f"{attempt.submission_id}-lanes" in cluster.jobs
    assert free_lanes() == pool_lanes()


def test_a_run_that_is_cancelled_meanwhile_does_not_go_on(
    live_run: LiveRun, project: Project, alice: User, cluster: FakeCluster
) -> None:
    attempt = live_run(project=project, created_by=alice, **RESUMED)
    Attempt.objects.filter(pk=attempt.pk).update(ended_at=timezone.now(), outcome=AttemptOutcome.LOST)
    Run.objects.filter(pk=attempt.run_id).update(state="starting")
    request_command(user=alice, run=Run.objects.get(pk=attempt.run_id), kind="cancel")
    assert go_on(Attempt.objects.get(pk=attempt.pk), cluster) is None


def test_a_driver_that_reported_its_end_has_left_nothing_to_end(
    live_run: LiveRun, reconciler: Reconciler, cluster: FakeCluster
) -> None:
    attempt = live_run(**RESUMED)
    Attempt.objects.filter(pk=attempt.pk).update(ended_at=timezone.now(), outcome=AttemptOutcome.ENDED)
    lose(attempt, cluster, reconciler)
    assert (holders(), set(cluster.jobs)) == (set(), {attempt.submission_id})
