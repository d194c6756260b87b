"""What becomes of the lanes that a lost driver has left on the cluster.

    the driver is lost, its job over ─► the run goes on with all of them: the next attempt holds them at once
                                        else ─► a job ends their processes ─► lanes freed

Invariant: a lane is freed only once no process of the attempt is left on it. Ray ends a driver's lanes with it only
where that driver ended them itself, or never had any.
"""

import logging
from collections import Counter
from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import F

from fleet.lane_demand import number_by_role
from fleet.models import LaneLoan
from fleet.selectors import HoldingAttempt, all_take_work, grants_of, held_by_attempts
from fleet.services import LaneHolder, hand_over
from runs.attempts import attempts
from runs.cluster import ClusterGateway, JobStatus
from runs.enqueue import enqueue_on_commit
from runs.models import Attempt, AttemptOutcome, Run, submission_id
from runs.planning.auto_placement import ResolvedPlacement
from runs.stream import lock_stream
from worker.contracts.lanes import MAX_UNATTENDED_SECONDS
from worker.contracts.left_lanes import LEFT_LANES_VARIABLE, LeftLanes
from worker.contracts.states import RunState
from worker.contracts.task_names import LAUNCH_RUN

logger = logging.getLogger(__name__)

ENTRYPOINT = "python -P -m worker.engine.end_lanes"


def go_on(lost: Attempt, gateway: ClusterGateway) -> Attempt | None:
    """Begin the run's next attempt on the lanes of a lost one, whose job is over; None where it cannot go on with them.

    It can where it resumes from a checkpoint, Ray counts all nodes of its lanes as alive, all of these take work, and
    they are those that it asks for: none is borrowed, and none has been added or taken since. So the new driver finds
    its lanes with the model loaded. A run that has lost its driver gave up no lane, so it does not stand in the queue
    again. Raises `ClusterUnavailable`.
    """
    if lost.outcome != AttemptOutcome.LOST or not lost.run.resume_from:
        return None
    alive = {name for node in gateway.nodes() for name in (node.label, node.node_id) if name}
    grants = grants_of(lost.run_id, lost.number)
    # A driver whose lanes died with their node ends, too, and Tandem's own list of nodes is seconds old.
    if any((grant.ray_node_id or grant.node) not in alive for grant in grants):
        return None
    return _begin(lost)


@transaction.atomic
def _begin(lost: Attempt) -> Attempt | None:
    lock_stream(lost.run_id)
    run = Run.objects.get(pk=lost.run_id)
    is_next = run.run_state is RunState.STARTING and run.attempt == lost.number
    if not is_next or not run.resume_from:
        return None
    placement = _as_before(lost)
    held = Counter(grant.role for grant in grants_of(run.pk, lost.number))
    if attempts.open_attempt(run.pk) or held != Counter(number_by_role(placement.spec.granted_lanes)):
        return None
    if not all_take_work(run.pk, lost.number) or _are_borrowed(lost):
        return None
    attempt = attempts.mint(run, lost.number + 1, placement)
    holder = LaneHolder(run_id=run.pk, attempt=attempt.number, project_id=run.project_id, user_id=run.created_by_id)
    hand_over(attempt=lost.number, holder=holder)
    enqueue_on_commit(LAUNCH_RUN, str(run.pk), attempt.number)
    return attempt


def runs_that_hold_them(runs: Collection[Run]) -> set[UUID]:
    """Ids of those runs that still hold lanes of the driver they lost: the reconciler decides what becomes of these
    before such a run may have others."""
    lost = Attempt.objects.filter(
        run__in=[run.pk for run in runs if run.run_state is RunState.STARTING],
        number=F("run__attempt"),
        outcome=AttemptOutcome.LOST,
    )
    keys = set(lost.values_list("run_id", "number"))
    return {run for run, _ in held_by_attempts(keys)}


def are_ended(holder: HoldingAttempt, gateway: ClusterGateway) -> bool:
    """Whether no process is left on the lanes of a closed attempt whose job is over; has them ended where some may be.

    Called in every round until it is true. Raises `ClusterUnavailable`.
    """
    job = submission_id(holder.run_id, holder.attempt)
    attempt = Attempt.objects.filter(run_id=holder.run_id, number=holder.attempt).first()
    if gateway.status(job) is JobStatus.UNKNOWN or (attempt is not None and _has_ended_its_lanes(attempt)):
        return True
    ending = f"{job}-lanes"
    status = gateway.status(ending)
    if status is JobStatus.UNKNOWN:
        lanes = tuple(grant.lane for grant in grants_of(holder.run_id, holder.attempt))
        left = LeftLanes(run=holder.run_id, attempt=holder.attempt, lanes=lanes)
        gateway.submit(ending, {LEFT_LANES_VARIABLE: left.model_dump_json()}, entrypoint=ENTRYPOINT)
        status = gateway.status(ending)
    if status in (JobStatus.FAILED, JobStatus.STOPPED):
        logger.warning("%s: its lanes were not ended: they end by themselves in %.0f s", job, MAX_UNATTENDED_SECONDS)
    return status.is_over and status is not JobStatus.UNKNOWN


def _has_ended_its_lanes(attempt: Attempt) -> bool:
    """A driver reports its end when it has none left; one that never was up had none."""
    return attempt.outcome == AttemptOutcome.ENDED or attempt.bootstrap_used_at is None


def _as_before(lost: Attempt) -> ResolvedPlacement:
    revision = lost.plan_revision
    if revision is None:
        return ResolvedPlacement(lost.concrete_spec)
    reason = f"goes on from batch {lost.run.resume_batch} on the lanes that it has"
    return ResolvedPlacement(lost.concrete_spec, plan=revision.plan, reason=reason)


def _are_borrowed(lost: Attempt) -> bool:
    return LaneLoan.objects.filter(run_id=lost.run_id, attempt=lost.number, until=None).exists()
