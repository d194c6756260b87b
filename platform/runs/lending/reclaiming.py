"""Asks lanes back for runs that wait: loans first, then lanes beyond a guarantee, down to what a run must keep.

```text
a run in turn lacks lanes ─► `fleet.allocation.lanes_asked_back` ─► notice: a release within the pool's seconds
                                                                       │ fragment finished, or dropped at the bound
                                                                       ▼
                                                          lanes free ─► `runs.queue.dispatch`
no answer long after the bound ─► the driver counts as lost
```

Lanes leave a run against its will only so, and never below its elastic minimum. Invariant: one step, decided from rows
alone, so that any number of rounds may be missed or repeated, one at a time; a lane is asked back once.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts.models import Project
from fleet.allocation.lane_loans import give_notice, open_loans
from fleet.allocation.lanes_asked_back import LackingRun, LaneToReturn, asked_back
from fleet.lane_demand import fits, kinds_wanted
from fleet.models import LaneKind, LaneLoan
from fleet.selectors import free_lanes, grants_of, kinds_by_lane, pool_lanes
from fleet.shares.pool_policies import policy_of
from fleet.shares.shares import held_lanes, scarce_kind, shares
from fleet.states.standing import of_lane
from runs.advisory_lock import advisory_lock
from runs.attempts import recovery
from runs.models import Attempt, Run
from runs.resizing.elastic_bounds import spare_lanes
from runs.resizing.resize_services import ResizeUnderWay, WantedResize, request_resize
from runs.run_queue import current_queue, pools_with_queues, waiting_runs
from runs.transitions import RunStateConflict
from worker.contracts.names import LaneRole
from worker.contracts.resizing import ResizeCause
from worker.contracts.states import RunState

logger = logging.getLogger(__name__)

GRACE = timedelta(seconds=30)
"""How long after its bound a lane may still be held: the driver reads commands and the web reads its reports every
second or so, and a driver on a busy node is late by seconds."""
_LOCK = 0x7265636C
"""The key of the advisory lock that keeps rounds apart."""

Holding = tuple[UUID, int, str]
"""Run, attempt and the lane's name in it."""
Returnable = LaneToReturn[Holding, UUID | None, LaneKind]
Lacking = LackingRun[Run, UUID | None, LaneKind]


def may_have_work() -> bool:
    """Whether a run waits for lanes, or one borrows some."""
    return waiting_runs().exists() or bool(open_loans())


def ask_back() -> int:
    """Take the next step for every run that lacks lanes which others have; returns the number of lanes asked back."""
    # Two rounds at once would ask for other lanes each, and so for too many.
    with advisory_lock(_LOCK, wait=False) as is_ours:
        if not is_ours:
            return 0
        _lose_silent_drivers(open_loans())
        num_asked = _off_drained(open_loans())
        return num_asked + sum(_ask_back_in(pool) for pool in pools_with_queues())


def _ask_back_in(pool: str) -> int:
    """The step for the runs that wait for one pool."""
    loans = open_loans(pool)
    lanes = _returnable(pool, loans)
    if not lanes:
        return 0
    asked = asked_back(_waiting(pool), available=_available(pool, loans), lanes=lanes, beyond=_beyond_guarantee(pool))
    by_holder: dict[tuple[UUID, int, bool], list[tuple[str, Lacking]]] = {}
    for lane, lacking in asked:
        run_id, attempt, name = lane.lane
        trains = not lane.is_loan and name in _trainers(run_id, attempt)
        by_holder.setdefault((run_id, attempt, trains), []).append((name, lacking))
    given = 0
    for (run_id, attempt, trains), wanted in by_holder.items():
        for_run = wanted[0][1].run
        within = None if trains else policy_of(pool).reclaim_seconds
        reason = f"run {for_run.name} is next in turn and lacks lanes"
        given += _notify(run_id, attempt, [name for name, _ in wanted], within, reason, for_run)
    return given


def _waiting(pool: str) -> Iterator[Lacking]:
    """The runs that wait in turn and that the pool is large enough for."""
    lanes, kind = pool_lanes(pool), scarce_kind(pool)
    held, known = held_lanes(pool, kind), shares(pool)
    for run in current_queue(pool).in_turn:
        wanted = run.sized_spec.granted_lanes
        if not fits(wanted, lanes, lanes):
            continue
        kinds = kinds_wanted(wanted, lanes)
        after = held.get(run.project_id, 0) + kinds.get(kind, 0)
        guaranteed = known[run.project_id].guaranteed if run.project_id in known else 0
        project: UUID | None = run.project_id
        yield LackingRun(run=run, project=project, wanted=kinds, is_entitled=after <= guaranteed)
        held[run.project_id] = after


def _available(pool: str, loans: Sequence[LaneLoan]) -> dict[LaneKind, int]:
    """Lanes that are free, or will be soon because they were asked back."""
    returning = Counter(LaneKind(loan.lane.kind) for loan in loans if loan.lane is not None and loan.notice_at)
    return dict(Counter(free_lanes(pool)) + returning)


def _returnable(pool: str, loans: Sequence[LaneLoan]) -> list[Returnable]:
    lent: list[Returnable] = [
        LaneToReturn(
            lane=(loan.run_id, loan.attempt, loan.name_in_run),
            kind=LaneKind(loan.lane.kind),
            project=loan.project_id,
            is_loan=True,
            since=loan.since.timestamp(),
        )
        for loan in loans
        if loan.lane is not None and loan.notice_at is None
    ]
    # Without a guarantee nobody is entitled to more than loans.
    if not any(share.guaranteed for share in shares(pool).values()):
        return lent
    return lent + _spare(pool, {(loan.run_id, loan.attempt, loan.name_in_run) for loan in loans})


def _spare(pool: str, lent: set[Holding]) -> list[Returnable]:
    """Lanes of their own that runs can do without, the newest run's first."""
    found: list[Returnable] = []
    live = Attempt.objects.filter(ended_at=None, run__state=RunState.RUNNING, run__pool=pool)
    live = live.select_related("run").defer("run__prompts")
    for attempt in live.order_by("-created_at"):
        own = {
            grant.lane: grant.role
            for grant in grants_of(attempt.run_id, attempt.number)
            if (attempt.run_id, attempt.number, grant.lane) not in lent
        }
        kinds = kinds_by_lane(attempt.run_id, attempt.number)
        found += [
            LaneToReturn(
                lane=(attempt.run_id, attempt.number, name),
                kind=kinds[name],
                project=attempt.run.project_id,
                is_loan=False,
                since=attempt.created_at.timestamp(),
            )
            for name in spare_lanes(attempt, own)
        ]
    return found


def _beyond_guarantee(pool: str) -> dict[UUID | None, int]:
    known = shares(pool)
    return {
        project: number - (known[project].guaranteed if project in known else 0)
        for project, number in held_lanes(pool, scarce_kind(pool)).items()
    }


def _trainers(run_id: UUID, attempt: int) -> set[str]:
    return {grant.lane for grant in grants_of(run_id, attempt) if grant.role is LaneRole.TRAINER}


def _off_drained(loans: Sequence[LaneLoan]) -> int:
    """Ask back borrowed lanes that are to take no more work."""
    given = 0
    for loan in loans:
        standing = None if loan.lane is None else of_lane(loan.lane)
        if standing is None or standing.takes_work or loan.notice_at is not None:
            continue
        reason = f"{standing.place} is {standing.state.replace('_', ' ')}"
        given += _notify(
            loan.run_id, loan.attempt, [loan.name_in_run], policy_of(loan.pool).reclaim_seconds, reason, None
        )
    return given


@transaction.atomic
def _notify(
    run_id: UUID, attempt: int, names: Sequence[str], within: float | None, reason: str, for_run: Run | None
) -> int:
    """Send the driver the notice; returns the number of lanes asked back, 0 where that is not possible now."""
    run = Run.objects.get(pk=run_id)
    try:
        with transaction.atomic():
            wanted = WantedResize(release=list(names), within_seconds=within)
            row = request_resize(user=None, run=run, wanted=wanted, cause=ResizeCause.RECLAIM)
    except (ValidationError, RunStateConflict, ResizeUnderWay) as error:
        logger.info("run %s does not give %s back now: %s", run_id, ", ".join(names), error)
        return 0
    owner = None if for_run is None else Project.objects.get(pk=for_run.project_id)
    return give_notice(
        run_id=run_id,
        attempt=attempt,
        names=names,
        resize=row.pk,
        reason=reason,
        bound_seconds=within,
        for_run=None if for_run is None else for_run.pk,
        owner=owner,
    )


def _lose_silent_drivers(loans: Sequence[LaneLoan]) -> None:
    """Count drivers as lost that have not given a lane back long after its bound: their jobs are stopped, which frees
    the lanes, and their runs go on from their last checkpoint."""
    now = timezone.now()
    for loan in loans:
        if loan.notice_at is None or loan.bound_seconds is None:
            continue
        if now - loan.notice_at <= timedelta(seconds=loan.bound_seconds) + GRACE:
            continue
        attempt = Attempt.objects.filter(run_id=loan.run_id, number=loan.attempt, ended_at=None).first()
        if attempt is not None:
            late = f"the driver has not given {loan.label} back {GRACE.total_seconds():.0f} s after its bound"
            recovery.driver_lost(attempt, reason=late, log_tail="")
