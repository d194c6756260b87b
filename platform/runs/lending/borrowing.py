"""Lends idle lanes to elastic runs, where their batches end sooner by more than the switch costs.

```text
idle lanes, less what runs in turn can use now
   └─► elastic runs with measured costs ─► forecast ─► net gain ─► shared by gain ─► resize: the lanes join, on loan
                                     (`worker.scheduling.borrowing`)
```

Invariants: a run never has more lanes than its elastic maximum, nor a project more than its limit; a lane that a run in
turn can use is not lent; one round at a time, and each round may be missed or repeated. How lanes come back:
`runs.lending.reclaiming`.
"""

import logging
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from fleet.allocation.lane_loans import (
    LoanForecast,
    begin_loans,
    held_with_loans,
    lenders,
    mean_join_seconds,
    open_loans,
    recent_returns,
)
from fleet.device_profiles import profile_name
from fleet.lane_demand import kind_for, kinds_wanted
from fleet.models import LaneKind, Pool
from fleet.selectors import all_lanes, devices_by_lane, devices_of, free_devices, free_lanes, grants_of, pool_lanes
from fleet.services import WantedLanes
from fleet.shares.shares import scarce_kind, shares
from fleet.shares.spending import projects_held_back
from runs.advisory_lock import advisory_lock
from runs.enqueue import enqueue_on_commit
from runs.models import Attempt, MeasuredCosts, Run, RunResize
from runs.planning.cost_history import MIN_BATCHES, measured_costs
from runs.resizing.elastic_bounds import room
from runs.resizing.resize_services import ResizeUnderWay, WantedResize, request_resize
from runs.run_queue import current_queue
from runs.transitions import RunStateConflict
from worker.contracts.events import WorkCost
from worker.contracts.names import LaneRole
from worker.contracts.resizing import ResizeCause, ResizeState
from worker.contracts.states import RunState
from worker.contracts.task_names import LEND_LANES
from worker.scheduling.borrowing.lane_forecast import BorrowQuestion, IdleLanes, LaneForecast, forecasts
from worker.scheduling.borrowing.sharing import Loan, Offer, share
from worker.scheduling.borrowing.worth import LoanTerms, expected_stay, net_gain_seconds
from worker.scheduling.core.costs import GANG, CostKind, dump_costs

logger = logging.getLogger(__name__)

RETRY_AFTER = timedelta(minutes=5)
"""How long a run is lent nothing after lanes could not join it: they would mostly fail again."""
STAYS_WINDOW = timedelta(hours=24)
"""Loans that ended this long ago or less say how long lanes stay idle: a day holds the pool's busy and quiet hours."""
_LOCK = 0x6C656E64
"""The key of the advisory lock that keeps rounds apart."""
_IN_WORK = {LaneRole.ROLLOUT: CostKind.GENERATE, LaneRole.REWARD: CostKind.SCORE}
"""What a lane of the role has under way when it is asked to leave."""


@dataclass(frozen=True, slots=True)
class Borrower:
    """A run that may borrow, and what it would gain."""

    attempt: Attempt
    forecast: LaneForecast
    terms: LoanTerms

    @property
    def run(self) -> Run:
        return self.attempt.run


def lend_soon(**_: object) -> None:
    """Have a round begin now if a run works, in place of with the beat. Hears `fleet.signals`."""
    if Attempt.objects.filter(ended_at=None, run__state=RunState.RUNNING).exists():
        enqueue_on_commit(LEND_LANES)


def lend_idle_lanes() -> int:
    """One round; returns the number of lanes that were lent."""
    with advisory_lock(_LOCK, wait=False) as is_ours:
        if not is_ours:
            return 0
        return sum(_lend_in(pool) for pool in Pool.objects.values_list("name", flat=True))


def _lend_in(pool: str) -> int:
    """The round of one pool."""
    if not any(lendable(pool).values()):
        return 0
    offers = [_offer(pool, borrower) for borrower in _borrowers(pool)]
    return sum(_lend(pool, loan) for loan in share([offer for offer in offers if offer.gains], _limits(pool)))


def lendable(pool: str) -> dict[LaneKind, int]:
    """Free lanes of the pool by kind that no run in turn can use: what runs need that fit into the free lanes, and into
    those on their way back, is kept for them."""
    free, lanes = Counter(free_lanes(pool)), pool_lanes(pool)
    if not free:
        return {}
    coming = Counter(LaneKind(loan.lane.kind) for loan in open_loans(pool) if loan.lane is not None and loan.notice_at)
    left = free + coming
    for run in current_queue(pool).in_turn:
        wanted = kinds_wanted(run.asked_lanes, lanes)
        if all(left[kind] >= number for kind, number in wanted.items()):
            left.subtract(wanted)
    return {kind: max(0, min(free[kind], left[kind])) for kind in LaneKind}


def _limits(pool: str) -> dict[Hashable, int]:
    """The most lanes to lend of each kind, of each device, and to each project."""
    found: dict[Hashable, int] = {}
    for kind, number in lendable(pool).items():
        found[kind] = number
        found |= {(kind, device): count for device, count in free_devices(kind, pool).items()}
    kind = scarce_kind(pool)
    held = held_with_loans(pool, kind)
    for project, of_project in shares(pool).items():
        if of_project.limit is not None:
            found[kind, project] = max(0, of_project.limit - held.get(project, 0))
    return found


# --- who may borrow, and what it gains --------------------------------------------------------------------------------


def _borrowers(pool: str) -> Iterator[Borrower]:
    attempts = Attempt.objects.filter(ended_at=None, run__state=RunState.RUNNING, run__pool=pool)
    attempts = attempts.exclude(run__project__in=projects_held_back())
    stays = recent_returns(pool, timezone.now() - STAYS_WINDOW)
    for attempt in attempts.select_related("run").defer("run__prompts").order_by("created_at"):
        if _is_resizing(attempt):
            continue
        try:
            yield from _of_attempt(attempt, *stays)
        except ValueError as error:
            logger.warning("run %s is lent nothing: %s", attempt.run_id, error)


def _is_resizing(attempt: Attempt) -> bool:
    of_run = RunResize.objects.filter(run=attempt.run)
    failed = of_run.filter(
        cause=ResizeCause.BORROW, state=ResizeState.FAILED, ended_at__gte=timezone.now() - RETRY_AFTER
    )
    return of_run.filter(ended_at=None).exists() or failed.exists()


def _of_attempt(attempt: Attempt, lent_seconds: float, num_reclaimed: int) -> Iterator[Borrower]:
    run, spec = attempt.run, attempt.concrete_spec
    measured = MeasuredCosts.objects.filter(run=run, num_batches__gte=MIN_BATCHES).first()
    roles = {grant.lane: grant.role for grant in grants_of(run.pk, attempt.number)}
    batches_left = run.num_batches - run.num_batches_done
    if measured is None or batches_left <= 0:
        return
    device_of = devices_by_lane(run.pk, attempt.number)
    idle = tuple(_idle(attempt, roles, device_of))
    if not idle:
        return
    costs = tuple(WorkCost.model_validate(cost) for cost in measured.costs)
    profiles = {lane: profile_name(device_of[lane]) or "" for lane in roles}
    history = measured_costs(spec, devices_of(run.pk, attempt.number)).tables
    question = BorrowQuestion(
        spec=spec,
        roles=roles,
        profiles=profiles,
        history=tuple(dump_costs(table) for table in history),
        measured=costs,
        idle=idle,
    )
    for forecast in forecasts(question):
        terms = _terms(run, costs, forecast, lent_seconds, num_reclaimed, batches_left * forecast.seconds[0])
        if terms is not None:
            yield Borrower(attempt, forecast, terms)


def _idle(attempt: Attempt, roles: Mapping[str, LaneRole], device_of: Mapping[str, str]) -> Iterator[IdleLanes]:
    """The idle lanes that could join the run, by role and device. Samples of a deterministic run must not depend on
    which lanes are idle, so it takes devices alone that it has in that role."""
    spec, pool = attempt.concrete_spec, attempt.run.pool
    lanes, can_lend = pool_lanes(pool), lendable(pool)
    for role, number in room(attempt, roles).items():
        kind = kind_for(role, lanes, rewards_on=spec.lanes.rewards_on)
        own = {device_of[lane] for lane, other in roles.items() if other is role}
        for device, free in sorted(free_devices(kind, pool).items()):
            most = min(number, free, can_lend.get(kind, 0))
            if most > 0 and (device in own or not spec.pipeline.deterministic):
                yield IdleLanes(role=role, device=device, profile=profile_name(device) or "", most=most)


def _terms(
    run: Run,
    costs: tuple[WorkCost, ...],
    forecast: LaneForecast,
    lent_seconds: float,
    num_reclaimed: int,
    seconds_left: float,
) -> LoanTerms | None:
    """`None` where nothing is known yet of what it takes to start a lane."""
    join = mean_join_seconds(run.pk)
    if join is None:
        # The gang's start loads the same model.
        join = _mean_seconds(costs, CostKind.START, of_gang=True)
    if join is None:
        return None
    pull = _mean_seconds(costs, CostKind.PULL) or 0.0
    return LoanTerms(
        stay=expected_stay(lent_seconds, num_reclaimed, seconds_left=seconds_left),
        join=join + pull,
        leave=_mean_seconds(costs, _IN_WORK[forecast.role]) or 0.0,
    )


def _mean_seconds(costs: tuple[WorkCost, ...], kind: CostKind, *, of_gang: bool = False) -> float | None:
    """The mean seconds of a call as large as the largest measured, over the lanes that did it, or of the gang."""
    each = [
        cost.per_call + cost.per_unit * max(cost.observed_units or (0,))
        for cost in costs
        if cost.kind == kind and (cost.lane == GANG) == of_gang
    ]
    return sum(each) / len(each) if each else None


def _offer(pool: str, borrower: Borrower) -> Offer[UUID, Borrower]:
    attempt, role, device = borrower.attempt, borrower.forecast.role, borrower.forecast.device
    kind = kind_for(role, pool_lanes(pool), rewards_on=attempt.concrete_spec.lanes.rewards_on)
    limits: list[Hashable] = [kind, (kind, device)]
    of_project = shares(pool).get(attempt.run.project_id)
    if of_project is not None and of_project.limit is not None and kind == scarce_kind(pool):
        limits.append((kind, attempt.run.project_id))
    gains = net_gain_seconds(borrower.forecast.seconds, borrower.terms)
    return Offer(run=attempt.run_id, what=borrower, gains=gains, limits=tuple(limits))


# --- the loan ---------------------------------------------------------------------------------------------------------


def _lend(pool: str, loan: Loan[UUID, Borrower]) -> int:
    """Let the lanes join the run; returns their number, 0 where they are not idle any more or it cannot be resized."""
    borrower, number = loan.offer.what, loan.num_lanes
    role, device = borrower.forecast.role, borrower.forecast.device
    run, attempt = borrower.run, borrower.attempt
    wanted = WantedResize(add=[WantedLanes(role=role, number=number, device=device)])
    try:
        with transaction.atomic():
            kind = kind_for(role, pool_lanes(pool), rewards_on=attempt.concrete_spec.lanes.rewards_on)
            if lendable(pool).get(kind, 0) < number:
                return 0
            held = held_with_loans(pool, kind)
            row = request_resize(user=None, run=run, wanted=wanted, cause=ResizeCause.BORROW)
            begin_loans(
                run_id=run.pk,
                attempt=attempt.number,
                names=row.added,
                from_projects=_lenders(pool, run.project_id, number, kind, held),
                resize=row.pk,
                forecast=_forecast_of(loan),
            )
    except (ValidationError, RunStateConflict, ResizeUnderWay) as error:
        logger.info("run %s is lent nothing now: %s", run.pk, error)
        return 0
    return number


def _lenders(pool: str, project: UUID, number: int, kind: LaneKind, held: Mapping[UUID, int]) -> list[UUID | None]:
    """Shares are of the scarce kind of lane; others are the pool's."""
    if kind != scarce_kind(pool):
        return [None] * number
    return lenders(project, number, num_lanes=all_lanes(pool).get(kind, 0), held=held, shares=shares(pool))


def _forecast_of(loan: Loan[UUID, Borrower]) -> LoanForecast:
    borrower, number = loan.offer.what, loan.num_lanes
    forecast, terms = borrower.forecast, borrower.terms
    before, after = forecast.seconds[0], forecast.seconds[number]
    lanes = f"{number} {forecast.role} lane{'s' * (number > 1)} more"
    return LoanForecast(
        reason=(
            f"idle; with {lanes} a batch is predicted to take {after:.3g} s in place of {before:.3g} s, which saves "
            f"{loan.gain:.3g} s over an expected stay of {terms.stay:.3g} s, switching paid"
        ),
        seconds_before=before,
        seconds=after,
        stay_seconds=terms.stay,
        gain_seconds=loan.gain,
    )
