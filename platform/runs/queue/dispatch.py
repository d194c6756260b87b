"""Dispatch of waiting runs in the order of their pool's queue, each with its whole gang of lanes.

    each pool's queue, in order: fits ─► start
    from the first that does not ─► `fleet.allocation.reservations`: it and those behind may start ─► ahead of others
                                    else ─► has a reservation, which others may not delay

Each pool is served for itself. A run that it is too small for has no reservation, and blocks nobody; the others are
served in order, so that small runs do not starve a large one, and start ahead of it only where that delays nobody's
estimated start.

Which free lanes a run gets is chosen before the transaction, for `placement: auto` by the planner, which may take
seconds. Lanes, state and attempt change in one transaction, which is rolled back if one of these lanes is not free any
more; the launch task is enqueued on commit.
"""

import logging
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from uuid import UUID

from django.db import transaction

from fleet.allocation.device_mixes import devices_of_kind, with_rewards
from fleet.allocation.lane_choice import ChosenLanes, FreeLane, choose_lanes
from fleet.allocation.lane_locks import free_lanes_of
from fleet.lane_demand import fits, kind_for, kinds_wanted
from fleet.models import LaneKind
from fleet.selectors import free_lanes, pool_lanes
from fleet.services import LaneHolder, allocate
from runs.attempts import attempts
from runs.attempts.failure import describe_failure
from runs.attempts.lane_handover import runs_that_hold_them
from runs.enqueue import enqueue_on_commit
from runs.legal_actions import legal_actions
from runs.models import Attempt, Run
from runs.planning.auto_placement import ResolvedPlacement, can_be_planned, choose
from runs.planning.device_order import best_first
from runs.planning.plan_cache import PlanBeingMade, PlanningFailed
from runs.queue.queue_forecast import admission
from runs.run_queue import WAITING_STATES, current_queue, pools_with_queues, waiting_runs
from runs.stream import lock_stream
from runs.transitions import RunStateConflict, move
from worker.contracts.names import LaneRole, RewardDevice
from worker.contracts.states import RunState
from worker.contracts.task_names import DISPATCH_RUNS, LAUNCH_RUN

logger = logging.getLogger(__name__)

ACTOR = "dispatch"
MAX_CHOICES = 3
"""How often lanes are chosen for a run in one round: where others take them each time, the next round comes soon, since
they free some again or fill the pool."""


class LanesTaken(Exception):
    """Another dispatcher took the lanes: the transaction is rolled back, and the run goes on waiting."""


class LanesUnsuitable(LanesTaken):
    """The planner finds no placement on the free lanes, and would on others of the pool, which the run waits for."""


def dispatch_soon(**_: object) -> None:
    """Have a round of dispatch begin now if a run waits, in place of with the beat. Hears `fleet.signals`."""
    if waiting_runs().exists():
        enqueue_on_commit(DISPATCH_RUNS)


def dispatch_waiting() -> list[UUID]:
    """Start the runs that may, pool by pool; returns their ids. An error in one pool is raised once the others are
    served."""
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
    """Start the runs of a pool that fit, in the order of its queue, then those that delay none of the runs ahead of
    them; returns their ids."""
    started: list[UUID] = []
    lanes = pool_lanes(name)
    if not free_lanes(name).get(kind_for(LaneRole.TRAINER, lanes)):
        return started
    in_turn = current_queue(name).in_turn
    held_back = runs_that_hold_them(in_turn)
    queue = deque(run for run in in_turn if run.pk not in held_back and fits(run.asked_lanes, lanes, lanes))
    while queue and fits(queue[0].asked_lanes, free_lanes(name), lanes):
        run = queue.popleft()
        match _start(run):
            case Start.DONE:
                started.append(run.pk)
            case Start.LATER:
                return started
    return started + _start_ahead_of_others(queue, name, lanes)


def _start_ahead_of_others(queue: Sequence[Run], name: str, lanes: Mapping[LaneKind, int]) -> list[UUID]:
    """Start runs behind the first one, which does not fit, that delay none of those ahead of them."""
    started: list[UUID] = []
    free = free_lanes(name)
    last = max((position for position, run in enumerate(queue) if fits(run.asked_lanes, free, lanes)), default=0)
    if not last:
        return started
    runs = list(queue)[: last + 1]
    admitted, demands = admission(runs, name)
    for run in runs:
        demand = demands[run.pk]
        if not admitted.may_start(demand):
            admitted.waits(demand)
            continue
        match _start(run, num_overtaken=admitted.num_ahead):
            case Start.DONE:
                admitted.started(demand)
                started.append(run.pk)
            case Start.LATER:
                break
    return started


class Start(Enum):
    """What became of the start of a run."""

    DONE = auto()
    LATER = auto()
    """Its lanes are taken, or its plan is being made: nobody else is started in its place."""
    NEVER = auto()
    """It does not wait any more, or no plan is possible and it has failed."""


def _start(run: Run, num_overtaken: int = 0) -> Start:
    try:
        start_attempt(run, num_overtaken)
    except (LanesTaken, PlanBeingMade):
        return Start.LATER
    except RunStateConflict:
        return Start.NEVER
    except PlanningFailed as error:
        fail_unplanned(run.pk, str(error))
        return Start.NEVER
    return Start.DONE


def start_attempt(run: Run, num_overtaken: int = 0) -> Attempt:
    """Allocate lanes to the run and create its next attempt; `run` is the row as read with the queue, `num_overtaken`
    the number of runs ahead of it that go on waiting.

    Where another dispatcher takes one of the lanes that were chosen, others are chosen, at most `MAX_CHOICES` times.
    Raises `LanesTaken`, `RunStateConflict` if the run no longer waits, `PlanningFailed`, `PlanBeingMade`.
    """
    for number in range(1, MAX_CHOICES + 1):
        chosen, lanes = choose_lanes_for(run)
        try:
            return begin(run.pk, chosen, lanes, num_overtaken)
        except LanesTaken:
            logger.info("run %s: choice %d of at most %d of lanes was taken by another", run.pk, number, MAX_CHOICES)
    raise LanesTaken(f"run {run.pk} found its lanes taken {MAX_CHOICES} times")


def choose_lanes_for(run: Run) -> tuple[ResolvedPlacement, ChosenLanes]:
    """The placement of the run's next attempt and the free lanes for it, neither locked nor written."""
    pool = pool_lanes(run.pool)
    lanes = free_lanes_of(kinds_wanted(run.asked_lanes, pool), pool=run.pool)
    free = Counter(lane.device for lane in lanes)
    working = devices_of_kind(kind_for(LaneRole.TRAINER, pool), free)
    placement = _placement(run, {device: free[device] for device in working})
    if placement is None:
        raise LanesTaken(f"run {run.pk} found its lanes taken")
    order = best_first(placement.spec, working)
    chosen = _chosen(placement, lanes, pool, order)
    if chosen is None and run.asked_lanes.rewards_on is RewardDevice.AUTO:
        # No CPU slot is free beside the cards that rewards would share.
        placement = placement.with_rewards_on_cpu(run.asked_lanes.num_reward)
        chosen = _chosen(placement, lanes, pool, order)
    if chosen is None:
        raise LanesTaken(f"run {run.pk} found its lanes taken")
    return placement.with_trainers_at(chosen.trainer_positions), chosen


def _chosen(
    placement: ResolvedPlacement, lanes: Sequence[FreeLane], pool: Mapping[LaneKind, int], order: Sequence[str]
) -> ChosenLanes | None:
    """The free lanes for the placement; `None` if they do not suffice."""
    spec, free = placement.spec, Counter(lane.device for lane in lanes)
    demand = with_rewards(placement.trainers, placement.rollouts, spec.granted_lanes, pool, free, order)
    if demand is None:
        return None
    shares = spec.lanes.rewards_on is RewardDevice.SHARED_GPU and LaneKind.GPU in pool
    return choose_lanes(lanes, demand, shares=shares)


def _placement(run: Run, free: Mapping[str, int]) -> ResolvedPlacement | None:
    try:
        return choose(run, free)
    except PlanningFailed as error:
        if can_be_planned(run.sized_spec):
            raise LanesUnsuitable(f"run {run.pk} waits for other lanes than those that are free: {error}") from error
        raise


@transaction.atomic
def begin(run_id: UUID, placement: ResolvedPlacement, lanes: ChosenLanes, num_overtaken: int = 0) -> Attempt:
    """Create the attempt on just these lanes; raises `LanesTaken` if they are not all free any more."""
    lock_stream(run_id)
    run = Run.objects.defer("spec", "prompts", "algebra").get(pk=run_id)
    number = run.attempt + 1
    if run.run_state not in WAITING_STATES or attempts.open_attempt(run_id) is not None:
        raise RunStateConflict("dispatch", run.run_state, legal_actions(run))
    attempt = attempts.mint(run, number, placement, num_overtaken)
    if run.run_state is RunState.QUEUED:
        origin = f", resuming after batch {run.resume_batch}" if run.resume_from else ""
        reason = f"lanes are free: attempt {number}{origin}{overtaking(num_overtaken)}"
        move(run_id, [RunState.QUEUED], RunState.STARTING, reason=reason, actor=ACTOR)
    holder = LaneHolder(run_id=run_id, attempt=number, project_id=run.project_id, user_id=run.created_by_id)
    if allocate(holder=holder, wanted=placement.spec.granted_lanes, chosen=lanes) is None:
        raise LanesTaken(f"run {run_id} found its lanes taken")
    enqueue_on_commit(LAUNCH_RUN, str(run_id), number)
    return attempt


def overtaking(num_overtaken: int) -> str:
    """A clause that says how many runs were ahead of one that was started; empty where none was."""
    if not num_overtaken:
        return ""
    runs, them = ("1 run", "it is not delayed") if num_overtaken == 1 else (f"{num_overtaken} runs", "none is delayed")
    return f", started ahead of {runs}: {them}"


@transaction.atomic
def fail_unplanned(run_id: UUID, reason: str) -> None:
    """Fail a run that the planner finds no placement for, with the planner's reason, so that it does not block the
    queue."""
    run = Run.objects.get(pk=run_id)
    if run.run_state is RunState.QUEUED:
        move(run_id, [RunState.QUEUED], RunState.STARTING, reason="lanes are free", actor=ACTOR)
    changes = {"failure": describe_failure(run.run_spec, reason=reason)}
    move(run_id, [RunState.STARTING], RunState.FAILED, reason=reason, actor=ACTOR, changes=changes)
