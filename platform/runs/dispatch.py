"""Dispatch of waiting runs in the order of their pool's queue, each with its whole gang of lanes.

Each pool is served for itself. The first run that it is large enough for blocks those behind it, so that small runs do
not starve a large one. For `placement: auto` the planner works before the transaction, because planning may take
seconds. Lanes, state and attempt change in one transaction, which is rolled back if the lanes are not those of the
plan; the launch task is enqueued on commit.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from fleet.lane_demand import fits
from fleet.selectors import devices_for, devices_of, free_lanes, pool_lanes
from fleet.services import LaneHolder, allocate
from runs import attempts
from runs.auto_placement import ResolvedPlacement, choose
from runs.enqueue import enqueue_on_commit
from runs.failure import describe_failure
from runs.legal_actions import legal_actions
from runs.models import Attempt, Run
from runs.plan_cache import PlanBeingMade, PlanningFailed
from runs.run_queue import WAITING_STATES, current_queue, pools_with_queues, waiting_runs
from runs.stream import lock_stream
from runs.transitions import RunStateConflict, move
from worker.contracts.states import RunState
from worker.contracts.task_names import DISPATCH_RUNS, LAUNCH_RUN

ACTOR = "dispatch"


class LanesTaken(Exception):
    """Another dispatcher took the lanes: the transaction is rolled back, and the run goes on waiting."""


def dispatch_soon(**_: object) -> None:
    """Have a round of dispatch begin now if a run waits, in place of with the beat. Hears `fleet.signals`."""
    if waiting_runs().exists():
        enqueue_on_commit(DISPATCH_RUNS)


def dispatch_waiting() -> list[UUID]:
    """Start the runs that fit, in the order of each pool's queue; returns their ids.

    An error in one pool is raised once the others are served.
    """
    started: list[UUID] = []
    errors: list[Exception] = []
    for pool in pools_with_queues():
        try:
            started += dispatch_pool(pool)
        except Exception as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup("dispatch of some pools failed", errors)
    return started


def dispatch_pool(name: str) -> list[UUID]:
    """Start the runs of a pool that fit, in the order of its queue; returns their ids."""
    started: list[UUID] = []
    pool = pool_lanes(name)
    for run in current_queue(name).in_turn:
        wanted = run.sized_spec.granted_lanes
        if not fits(wanted, pool, pool):
            continue
        if not fits(wanted, free_lanes(name), pool):
            break
        try:
            start_attempt(run)
        except (LanesTaken, PlanBeingMade):
            break
        except RunStateConflict:
            continue
        except PlanningFailed as error:
            fail_unplanned(run.pk, str(error))
            continue
        started.append(run.pk)
    return started


def start_attempt(run: Run) -> Attempt:
    """Allocate lanes to the run and create its next attempt; `run` is the row as read with the queue.

    Raises `LanesTaken`, `RunStateConflict` if the run no longer waits, `PlanningFailed`, `PlanBeingMade`.
    """
    wanted = run.sized_spec.granted_lanes
    devices = devices_for(wanted)
    if len(devices) < wanted.num_rollout + wanted.num_trainer:
        raise LanesTaken(f"run {run.pk} found its lanes taken")
    return _begin(run.pk, choose(run, devices), devices)


@transaction.atomic
def _begin(run_id: UUID, chosen: ResolvedPlacement, devices: Sequence[str]) -> Attempt:
    """Create the attempt with the spec `chosen` for `devices`; if other devices were allocated, the lanes count as
    taken."""
    lock_stream(run_id)
    run = Run.objects.get(pk=run_id)
    number = run.attempt + 1
    if run.run_state not in WAITING_STATES or attempts.open_attempt(run_id) is not None:
        raise RunStateConflict("dispatch", run.run_state, legal_actions(run))
    attempt = attempts.mint(run, number, chosen)
    if run.run_state is RunState.QUEUED:
        origin = f", resuming after batch {run.resume_batch}" if run.resume_from else ""
        reason = f"lanes are free: attempt {number}{origin}"
        move(run_id, [RunState.QUEUED], RunState.STARTING, reason=reason, actor=ACTOR)
    holder = LaneHolder(run_id=run_id, attempt=number, project_id=run.project_id, user_id=run.created_by_id)
    granted = allocate(holder=holder, wanted=chosen.spec.granted_lanes, trainers=chosen.trainers)
    if granted is None or devices_of(run_id, number) != tuple(devices):
        raise LanesTaken(f"run {run_id} found its lanes taken")
    enqueue_on_commit(LAUNCH_RUN, str(run_id), number)
    return attempt


@transaction.atomic
def fail_unplanned(run_id: UUID, reason: str) -> None:
    """Fail a run that the planner finds no placement for, with the planner's reason, so that it does not block the
    queue."""
    run = Run.objects.get(pk=run_id)
    if run.run_state is RunState.QUEUED:
        move(run_id, [RunState.QUEUED], RunState.STARTING, reason="lanes are free", actor=ACTOR)
    changes = {"failure": describe_failure(run.run_spec, reason=reason)}
    move(run_id, [RunState.STARTING], RunState.FAILED, reason=reason, actor=ACTOR, changes=changes)
