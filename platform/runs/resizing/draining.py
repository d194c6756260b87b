"""Moves runs off lanes that are drained by a deadline, and off GPUs that have failed or are lost.

```text
lanes of a run on a draining node or GPU with a deadline, on a faulty GPU, or on what is lost
   free lanes like them ─► resize: those join, these leave                          (a few tries)
   else its elastic bounds allow fewer ─► resize: these leave
   else wait for free lanes; at the deadline ─► checkpoint ─► its driver ends, the run waits for lanes again
```

A drain without a deadline waits until runs end by themselves. What is lost has no deadline: a run goes on without it,
or its driver ends the attempt. Invariant: one step for each run and round, decided from
rows alone, so that any number of rounds may be missed or repeated.
"""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils import timezone

from fleet.allocation.lane_loans import open_loans
from fleet.selectors import grants_of
from fleet.services import WantedLanes
from fleet.states.drains import DrainedLane, drained_lanes
from runs.attempts.requeue import requeue
from runs.models import Attempt, Run, RunResize
from runs.resizing.resize_services import ResizeUnderWay, WantedResize, request_resize
from runs.transitions import RunStateConflict
from worker.contracts.names import LaneRole
from worker.contracts.resizing import ResizeCause, ResizeState

logger = logging.getLogger(__name__)

ACTOR = "drain"
MAX_RESIZES = 3
"""Resizes of a run that a drain may see fail before it waits for the deadline: a lane that cannot be started fails
again."""


@dataclass(frozen=True, slots=True)
class Drain:
    """A run's lanes that are drained by a deadline, the earliest of theirs."""

    run: Run
    attempt: Attempt
    lanes: tuple[DrainedLane, ...]

    @property
    def deadline(self) -> datetime | None:
        return min((lane.deadline for lane in self.lanes if lane.deadline is not None), default=None)

    @property
    def since(self) -> datetime:
        return min(lane.since for lane in self.lanes)


def move_runs_off() -> int:
    """Take the next step for each run on drained lanes; returns the number of runs that something was begun for."""
    return sum(_step(drain) for drain in drains())


def drains() -> list[Drain]:
    """The runs with a driver on lanes that are drained by a deadline."""
    by_attempt: dict[tuple[UUID, int], list[DrainedLane]] = {}
    # Borrowed lanes are asked back at once (`runs.lending.reclaiming`), so nothing joins in their place.
    lent = {(loan.run_id, loan.attempt, loan.name_in_run) for loan in open_loans()}
    for lane in drained_lanes():
        if (lane.run_id, lane.attempt, lane.name) in lent:
            continue
        by_attempt.setdefault((lane.run_id, lane.attempt), []).append(lane)
    found = []
    for (run_id, number), lanes in by_attempt.items():
        attempt = Attempt.objects.select_related("run").filter(run_id=run_id, number=number, ended_at=None).first()
        if attempt is not None:
            found.append(Drain(attempt.run, attempt, tuple(lanes)))
    return found


def _step(drain: Drain) -> bool:
    if RunResize.objects.filter(run=drain.run, ended_at=None).exists():
        return False
    failed = RunResize.objects.filter(
        run=drain.run, cause=ResizeCause.DRAIN, state=ResizeState.FAILED, created_at__gte=drain.since
    )
    if failed.count() < MAX_RESIZES and (_replace(drain) or _shrink(drain)):
        return True
    return drain.deadline is not None and timezone.now() >= drain.deadline and _requeue(drain, drain.deadline)


def _replace(drain: Drain) -> bool:
    """Let free lanes join in place of the drained ones, of the same devices if there are any."""
    names = [lane.name for lane in drain.lanes]
    alike = Counter[tuple[LaneRole, str | None]]((lane.role, lane.device) for lane in drain.lanes)
    of_any = Counter[tuple[LaneRole, str | None]]((lane.role, None) for lane in drain.lanes)
    return any(_resize(drain.run, WantedResize(add=_wanted(counts), release=names)) for counts in (alike, of_any))


def _wanted(counts: Mapping[tuple[LaneRole, str | None], int]) -> list[WantedLanes]:
    return [WantedLanes(role=role, number=number, device=device) for (role, device), number in counts.items()]


def _shrink(drain: Drain) -> bool:
    """Let the run go on with fewer lanes, where its spec allows that."""
    spec = drain.attempt.concrete_spec
    leaving = Counter(lane.role for lane in drain.lanes)
    held = Counter(grant.role for grant in grants_of(drain.run.pk, drain.attempt.number))
    for role, number in leaving.items():
        bounds = spec.elastic.bounds(role, getattr(spec.lanes, f"num_{role}"))
        if held[role] - number < bounds.min:
            return False
    return _resize(drain.run, WantedResize(release=[lane.name for lane in drain.lanes]))


def _resize(run: Run, wanted: WantedResize) -> bool:
    try:
        request_resize(user=None, run=run, wanted=wanted, cause=ResizeCause.DRAIN)
    except (ValidationError, RunStateConflict, ResizeUnderWay) as error:
        logger.info("run %s is not resized off drained lanes now: %s", run.pk, error)
        return False
    return True


def _requeue(drain: Drain, deadline: datetime) -> bool:
    emptied = "; ".join(sorted({f"{lane.place} {lane.why}" for lane in drain.lanes}))
    return requeue(
        drain.attempt,
        since=deadline,
        why=lambda origin: f"{emptied}: the run goes on from {origin} on other lanes",
        actor=ACTOR,
    )
