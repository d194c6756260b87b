"""From the queue to the cluster: oldest first, whole gangs of lanes only.

Waiting are queued runs, and runs back in `starting` whose driver was lost. The oldest that the pool could hold at all
bars the way for younger ones: a large run is not starved by small ones. Lanes, state and attempt change in one
transaction; the launch task is enqueued when it commits.
"""

from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from fleet.selectors import free_lanes, pool_lanes
from fleet.services import allocate
from fleet.wanted import fits
from runs import attempts
from runs.actions import legal_actions
from runs.enqueue import enqueue_on_commit
from runs.models import Attempt, Run
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
        "created_at", "pk"
    )


def dispatch_waiting() -> list[UUID]:
    """Start what fits, oldest first; the ids of the runs started."""
    started: list[UUID] = []
    pool = pool_lanes()
    for run in waiting_runs().defer("prompts"):
        wanted = run.run_spec.granted_lanes
        if not fits(wanted, pool, pool):
            continue
        if not fits(wanted, free_lanes(), pool):
            break
        try:
            start_attempt(run.pk)
        except LanesTaken:
            break
        except RunStateConflict:
            continue
        started.append(run.pk)
    return started


@transaction.atomic
def start_attempt(run_id: UUID) -> Attempt:
    """Give the run lanes and its next attempt.

    Raises `LanesTaken`, or `RunStateConflict` when the run does not wait any more.
    """
    lock_stream(run_id)
    run = Run.objects.get(pk=run_id)
    number = run.attempt + 1
    if run.run_state not in WAITING_STATES or attempts.open_attempt(run_id) is not None:
        raise RunStateConflict("dispatch", run.run_state, legal_actions(run))
    attempt = attempts.mint(run, number)
    if run.run_state is RunState.QUEUED:
        origin = f", resuming after batch {run.resume_batch}" if run.resume_from else ""
        reason = f"lanes are free: attempt {number}{origin}"
        move(run_id, [RunState.QUEUED], RunState.STARTING, reason=reason, actor=ACTOR)
    if allocate(run_id=run_id, attempt=number, wanted=run.run_spec.granted_lanes) is None:
        raise LanesTaken(f"run {run_id} found its lanes taken")
    enqueue_on_commit(LAUNCH_RUN, str(run_id), number)
    return attempt
