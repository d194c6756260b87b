"""Resizes of live runs: what is refused, what is allocated and freed when, and what is kept."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from accounts.models import Project, User
from audit.models import AuditEntry
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane, LaneUse
from fleet.services import WantedLanes
from runs.attempts.reconciler import Reconciler
from runs.models import Attempt, PendingCommand, Run, RunResize
from runs.queue.dispatch import dispatch_waiting
from runs.reports import driver_reports
from runs.resizing.resize_services import ResizeUnderWay, WantedResize, request_resize
from runs.transitions import RunStateConflict
from worker.contracts.commands import CommandKind
from worker.contracts.lane_events import LanesEvent
from worker.contracts.names import LaneRole
from worker.contracts.resizing import (
    LaneProgress,
    LaneStep,
    ResizeCause,
    ResizeReport,
    ResizeState,
    RoleChange,
    TrainerChangeSeconds,
)
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db

LiveRun = Callable[..., Attempt]
ROLLOUT, TRAINER, REWARD = LaneRole.ROLLOUT, LaneRole.TRAINER, LaneRole.REWARD


@pytest.fixture
def attempt(live_run: LiveRun, project: Project, alice: User) -> Attempt:
    """A running attempt with one lane of each role, on a pool of six."""
    return live_run(project=project, created_by=alice)


def add(role: LaneRole, number: int = 1, device: str | None = None) -> WantedResize:
    return WantedResize(add=[WantedLanes(role=role, number=number, device=device)])


def change(**roles: LaneRole) -> WantedResize:
    return WantedResize(change=[RoleChange(lane=lane.replace("_", "-"), role=role) for lane, role in roles.items()])


def held(run_id: uuid.UUID) -> dict[str, str]:
    """The roles of the lanes that the run holds, by name."""
    return dict(Lane.objects.filter(run_id=run_id).values_list("name_in_run", "role"))


def report(
    attempt: Attempt, resize: RunResize | str, state: str, steps: dict[str, tuple[LaneRole | None, str]], **more: Any
) -> None:
    """The driver reports how far it is."""
    progress = tuple(LaneProgress(lane=lane, role=role, step=LaneStep(step)) for lane, (role, step) in steps.items())
    found = ResizeReport(
        id=str(resize.pk if isinstance(resize, RunResize) else resize),
        cause=ResizeCause.USER if isinstance(resize, RunResize) else ResizeCause.PLAN,
        state=ResizeState(state),
        lanes=progress,
        **more,
    )
    event = LanesEvent(seq=1, at=0.0, lanes=(), algebra=attempt.run.batch_algebra, resize=found)
    driver_reports.apply_event(attempt.run_id, attempt.number, event)


def messages(error: pytest.ExceptionInfo[ValidationError], field: str) -> str:
    return " ".join(error.value.message_dict[field])


# --- what is asked for ------------------------------------------------------------------------------------------------


def test_lanes_are_allocated_with_the_command_and_the_driver_is_told_of_them(attempt: Attempt, bob: User) -> None:
    row = request_resize(user=bob, run=attempt.run, wanted=add(ROLLOUT, 2))
    assert held(attempt.run_id) == {
        "rollout-0": "rollout",
        "trainer-0": "trainer",
        "reward-0": "reward",
        "rollout-1": "rollout",
        "rollout-2": "rollout",
    }
    (command,) = driver_reports.pending_commands(attempt.run_id)
    assert (command.id, command.kind) == (str(row.pk), CommandKind.RESIZE)
    assert command.resize is not None
    added = [(grant.lane, grant.role, grant.profile) for grant in command.resize.add]
    assert added == [("rollout-1", ROLLOUT, "cpu"), ("rollout-2", ROLLOUT, "cpu")]
    entry = AuditEntry.objects.get(action="run.resize")
    assert (entry.user_id, entry.changes["add"]) == (bob.pk, ["rollout-1 on local", "rollout-2 on local"])
    use = LaneUse.objects.get(name_in_run="rollout-2")
    assert (use.project_id, use.user_id) == (attempt.run.project_id, attempt.run.created_by_id)


def test_a_second_resize_is_refused_while_one_is_under_way_by_its_id(attempt: Attempt, alice: User) -> None:
    first = request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    with pytest.raises(ResizeUnderWay, match=str(first.pk)):
        request_resize(user=alice, run=attempt.run, wanted=add(REWARD))
    assert len(held(attempt.run_id)) == 4
    report(attempt, first, "done", {"rollout-1": (ROLLOUT, "joined")})
    request_resize(user=alice, run=attempt.run, wanted=add(REWARD))
    assert "reward-1" in held(attempt.run_id)


@pytest.mark.parametrize(
    ("wanted", "field", "message"),
    [
        (WantedResize(), "add", "at least one lane to add, to release or to change, got none"),
        (WantedResize(release=["rollout-0"]), "release", "must keep at least 1 rollout lane, got 0"),
        (WantedResize(release=["reward-0"]), "release", "must keep at least 1 reward lane, got 0"),
        (WantedResize(release=["rollout-7"]), "release", "`rollout-7` must be a lane of the run"),
        (change(trainer_0=ROLLOUT), "change", "must keep at least 1 trainer lane, got 0"),
        (change(trainer_0=TRAINER), "change", "must get another role than its own, got trainer"),
        (add(TRAINER, 4), "add", "must fit the free lanes of the pool, got 4 trainer"),
        (add(TRAINER, 0), "add", "at least 1 of each entry, got 0"),
        (add(ROLLOUT, 1, "H100"), "add", "got 1 rollout on H100"),
    ],
)
def test_what_a_run_cannot_be_is_refused_by_field_and_holds_nothing(
    attempt: Attempt, alice: User, wanted: WantedResize, field: str, message: str
) -> None:
    before = held(attempt.run_id)
    with pytest.raises(ValidationError) as error:
        request_resize(user=alice, run=attempt.run, wanted=wanted)
    assert message in messages(error, field)
    assert held(attempt.run_id) == before
    assert not RunResize.objects.exists() and not PendingCommand.objects.exists()


def test_a_lane_named_twice_is_refused(attempt: Attempt, alice: User) -> None:
    wanted = WantedResize(release=["rollout-0"], change=[RoleChange(lane="rollout-0", role=TRAINER)])
    with pytest.raises(ValidationError, match="`rollout-0` must be named once, got 2 times"):
        request_resize(user=alice, run=attempt.run, wanted=wanted)


def test_a_colocated_run_gets_no_rollout_lanes(
    live_run: LiveRun, project: Project, alice: User, make_spec: Any
) -> None:
    spec = make_spec(pipeline={"placement": "colocated"}, lanes={"num_rollout": 0, "num_trainer": 1, "num_reward": 1})
    attempt = live_run(project=project, spec=spec)
    with pytest.raises(ValidationError, match="a colocated run must keep 0 rollout lanes, got 1"):
        request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    request_resize(user=alice, run=attempt.run, wanted=add(TRAINER))
    assert held(attempt.run_id)["trainer-1"] == "trainer"


def test_lanes_that_would_not_fit_in_memory_are_refused_by_the_planners_model(
    live_run: LiveRun, project: Project, alice: User, make_spec: Any
) -> None:
    """All weights of FLUX.1 under ZeRO 3: six L40S (48 GB) hold them with their state, five do not."""
    ensure_local_lanes(num_cpu_lanes=0, gpu_indices=range(9), accelerator="NVIDIA L40S", node="big")
    spec = make_spec(
        base_model={"path": "black-forest-labs/FLUX.1-dev", "family": "flux", "dtype": "bf16"},
        tuning="full",
        deepspeed={"config": "zero3", "gradient_checkpointing": 1},
        lanes={"num_rollout": 1, "num_trainer": 6, "num_reward": 1},
    )
    attempt = live_run(project=project, spec=spec)
    with pytest.raises(ValidationError) as error:
        request_resize(user=alice, run=attempt.run, wanted=WantedResize(release=["trainer-3"]))
    assert "with 5 trainer lanes in zero3: keep more trainer lanes" in messages(error, "release")
    assert "`trainer-0` must fit" in messages(error, "release"), "the lanes that stay would hold more each"
    request_resize(user=alice, run=attempt.run, wanted=add(TRAINER, 1, "NVIDIA L40S"))
    assert held(attempt.run_id)["trainer-6"] == "trainer"


def test_a_cpu_lane_does_not_become_a_trainer_beside_gpus(
    live_run: LiveRun, project: Project, alice: User, make_spec: Any
) -> None:
    ensure_local_lanes(num_cpu_lanes=0, gpu_indices=range(2), node="big")
    attempt = live_run(project=project, spec=make_spec(lanes={"num_rollout": 1, "num_trainer": 1, "num_reward": 2}))
    with pytest.raises(ValidationError, match="`reward-0` must be a GPU lane to become a trainer lane, got a CPU lane"):
        request_resize(user=alice, run=attempt.run, wanted=change(reward_0=TRAINER))


@pytest.mark.parametrize("state", list(RunState))
def test_only_a_run_that_works_or_is_paused_is_resized(
    live_run: LiveRun, project: Project, alice: User, state: RunState
) -> None:
    attempt = live_run(state, project=project)
    if state in (RunState.RUNNING, RunState.PAUSED):
        request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
        return
    with pytest.raises(RunStateConflict, match=f"`resize` is not possible while the run is {state}"):
        request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))


def test_a_viewer_may_not_resize(attempt: Attempt, viewer: User) -> None:
    with pytest.raises(PermissionDenied):
        request_resize(user=viewer, run=attempt.run, wanted=add(ROLLOUT))


def test_tandem_itself_resizes_without_a_user(attempt: Attempt) -> None:
    row = request_resize(user=None, run=attempt.run, wanted=add(ROLLOUT), cause=ResizeCause.DRAIN)
    assert (row.cause, row.requested_by) == ("drain", None)
    assert AuditEntry.objects.get(action="run.resize").actor == "drain"


# --- what the driver reports ------------------------------------------------------------------------------------------


def test_a_lane_is_freed_when_the_driver_has_let_go_of_it_and_not_before(attempt: Attempt, alice: User) -> None:
    first = request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    report(attempt, first, "accepted", {"rollout-1": (ROLLOUT, "starting")})
    report(attempt, first, "done", {"rollout-1": (ROLLOUT, "joined")})
    row = request_resize(user=alice, run=attempt.run, wanted=WantedResize(release=["rollout-0"]))
    report(attempt, row, "accepted", {"rollout-0": (None, "leaving")})
    assert "rollout-0" in held(attempt.run_id)
    report(attempt, row, "done", {"rollout-0": (None, "released")})
    assert held(attempt.run_id) == {"trainer-0": "trainer", "reward-0": "reward", "rollout-1": "rollout"}
    assert LaneUse.objects.get(name_in_run="rollout-0").until is not None
    row.refresh_from_db()
    assert (row.state, row.ended_at is not None) == ("done", True)


def test_a_name_is_never_given_to_another_lane(attempt: Attempt, alice: User) -> None:
    first = request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    report(attempt, first, "failed", {"rollout-1": (ROLLOUT, "given_up")}, reason="no")
    assert "rollout-1" not in held(attempt.run_id)
    request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    assert "rollout-2" in held(attempt.run_id)


def test_a_change_of_role_ends_one_use_and_begins_another(attempt: Attempt, alice: User) -> None:
    first = request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    report(attempt, first, "done", {"rollout-1": (ROLLOUT, "joined")})
    row = request_resize(user=alice, run=attempt.run, wanted=change(rollout_1=TRAINER))
    report(attempt, row, "accepted", {"rollout-1": (TRAINER, "waiting")})
    assert held(attempt.run_id)["rollout-1"] == "rollout"
    seconds = TrainerChangeSeconds(checkpoint=1.0, start=20.0, restore=2.0)
    report(attempt, row, "done", {"rollout-1": (TRAINER, "joined")}, trainer_seconds=seconds)
    assert held(attempt.run_id)["rollout-1"] == "trainer"
    uses = LaneUse.objects.filter(name_in_run="rollout-1").order_by("pk")
    assert [(use.role, use.until is None) for use in uses] == [("rollout", False), ("trainer", True)]
    row.refresh_from_db()
    assert row.trainer_seconds == {"checkpoint": 1.0, "start": 20.0, "restore": 2.0}


def test_a_resize_that_the_driver_refuses_gives_its_lanes_back(attempt: Attempt, alice: User) -> None:
    row = request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT, 2))
    report(attempt, row, "failed", {}, reason="the run is stopping")
    assert len(held(attempt.run_id)) == 3
    row.refresh_from_db()
    assert (row.state, row.reason) == ("failed", "the run is stopping")


def test_a_resize_of_the_drivers_own_is_recorded(attempt: Attempt, alice: User) -> None:
    first = request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    report(attempt, first, "done", {"rollout-1": (ROLLOUT, "joined")})
    own = str(uuid.uuid4())
    report(attempt, own, "accepted", {"rollout-1": (TRAINER, "waiting")})
    with pytest.raises(ResizeUnderWay, match="plan, accepted"):
        request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    report(attempt, own, "done", {"rollout-1": (TRAINER, "joined")})
    assert held(attempt.run_id)["rollout-1"] == "trainer"
    assert RunResize.objects.get(pk=own).cause == "plan"


def test_a_driver_lost_amid_a_resize_leaves_no_lane_behind_and_the_resize_failed(
    attempt: Attempt, alice: User, reconciler: Reconciler, cluster: Any
) -> None:
    row = request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    cluster.jobs[attempt.submission_id] = cluster.jobs[attempt.submission_id].__class__.FAILED
    reconciler.tick()
    row.refresh_from_db()
    assert row.state == "failed" and row.reason.startswith("not done: ") and row.ended_at is not None
    assert not held(attempt.run_id)
    assert not LaneUse.objects.filter(until=None).exists()
    assert dispatch_waiting() == [attempt.run_id]
    assert held(attempt.run_id) == {"rollout-0": "rollout", "trainer-0": "trainer", "reward-0": "reward"}


def test_later_attempts_ask_for_the_lanes_of_a_users_last_resize(
    attempt: Attempt, alice: User, reconciler: Reconciler, cluster: Any
) -> None:
    row = request_resize(user=alice, run=attempt.run, wanted=add(ROLLOUT))
    report(attempt, row, "done", {"rollout-1": (ROLLOUT, "joined")})
    cluster.jobs[attempt.submission_id] = cluster.jobs[attempt.submission_id].__class__.FAILED
    reconciler.tick()
    assert dispatch_waiting() == [attempt.run_id]
    assert sorted(held(attempt.run_id)) == ["reward-0", "rollout-0", "rollout-1", "trainer-0"]
    newest = Attempt.objects.get(run=attempt.run_id, number=2)
    assert newest.concrete_spec.lanes.num_rollout == 2
    assert Run.objects.get(pk=attempt.run_id).run_spec.lanes.num_rollout == 1
