"""From the queue to the cluster: by priority, then oldest first, whole gangs of lanes only.

Waiting are queued runs, and runs back in `starting` whose driver was lost. The first that the pool could hold at all
bars the way for those behind it: a large run is not starved by small ones. Where the planner is to choose, it does so
just before, for planning may take seconds; lanes, state and attempt change in one transaction, undone where the lanes
are not those that it planned for. The launch task is enqueued when it commits.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

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
from runs.stream import lock_stream
from runs.transitions import RunStateConflict, move
from worker.contracts.states import RunState
from worker.contracts.task_names import LAUNCH_RUN

ACTOR = "dispatch"
WAITING_STATES = (RunState.QUEUED, RunState.STARTING)


class LanesTaken(Exception):
    """Another dispatcher was faster; the transaction is undone and the run waits on."""


def waiting_runs() -> QuerySet[Run]:
    """Runs that wait for lanes, in the order they get them."""
    open_attempts = Attempt.objects.filter(run=OuterRef("pk"), ended_at=None)
    return Run.objects.filter(Q(state=RunState.QUEUED) | Q(~Exists(open_attempts), state=RunState.STARTING)).order_by(
        "priority", "created_at", "pk"
    )


def dispatch_waiting() -> list[UUID]:
    """Start what fits, in the queue's order; the ids of the runs started."""
    started: list[UUID] = []
    pool = pool_lanes()
    for run in waiting_runs().defer("prompts"):
        wanted = run.run_spec.granted_lanes
        if not fits(wanted, pool, pool):
            continue
        if not fits(wanted, free_lanes(), pool):
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
    """Give the run lanes and its next attempt; `run` is the row as the queue was read.

    Raises `LanesTaken`, `RunStateConflict` when the run does not wait any more, `PlanningFailed`, `PlanBeingMade`.
    """
    wanted = run.run_spec.granted_lanes
    devices = devices_for(wanted)
    if len(devices) < wanted.num_rollout + wanted.num_trainer:
        raise LanesTaken(f"run {run.pk} found its lanes taken")
    return _begin(run.pk, choose(run, devices), devices)


@transaction.atomic
def _begin(run_id: UUID, chosen: ResolvedPlacement, devices: Sequence[str]) -> Attempt:
    """The attempt works by what was `chosen` for `devices`; lanes of other devices count as taken."""
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
    """The planner finds no way to run it: it fails with the planner's words, and bars nobody's way."""
    run = Run.objects.get(pk=run_id)
    if run.run_state is RunState.QUEUED:
        move(run_id, [RunState.QUEUED], RunState.STARTING, reason="lanes are free", actor=ACTOR)
    changes = {"failure": describe_failure(run.run_spec, reason=reason)}
    move(run_id, [RunState.STARTING], RunState.FAILED, reason=reason, actor=ACTOR, changes=changes)
