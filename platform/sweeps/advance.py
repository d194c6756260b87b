"""The periodic step of all sweeps: judge points at their rungs, start the next runs, note what has ended.

    sweep's row locked ─► judge: reports, stops ─► start: run and its place ─► end
                          one transaction          one transaction for each     one transaction

Invariant: each of these commits whole under the sweep's lock or not at all, and finds from the rows what is left to do.
So a process that dies between any two leaves no run made twice and none forgotten, and a second one waits for nothing:
it passes over a sweep whose row is locked.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from runs.models import Run, Sweep, SweepRun, SweepState
from runs.services import create_run
from sweeps.judging import judge
from sweeps.search_space import with_values
from sweeps.sweep_hours import gpu_hours_of_sweeps
from sweeps.sweep_news import tell_of_end
from sweeps.sweep_plan import SweepPlan
from worker.contracts.states import END_STATES

logger = logging.getLogger(__name__)

STARTS_PER_ROUND = 16
"""Of one sweep: each is checked and written in some milliseconds, and other sweeps wait meanwhile."""


def may_have_work() -> bool:
    """Whether a sweep has not ended."""
    return _at_work().exists()


def advance_all() -> int:
    """Take the next step of every sweep at work; returns the number of runs that were created."""
    num_created = 0
    for sweep_id in _at_work().order_by("created_at").values_list("pk", flat=True):
        try:
            num_created += advance(sweep_id)
        except Exception:
            # One sweep that cannot go on must not hold up the others; its rows are as they were.
            logger.exception("sweep %s could not be advanced", sweep_id)
    return num_created


def advance(sweep_id: UUID) -> int:
    """Take the next step of one sweep; returns the number of runs that were created."""
    with _locked(sweep_id) as sweep:
        if sweep is None:
            return 0
        judge(sweep, _plan(sweep))
    num_created = 0
    while num_created < STARTS_PER_ROUND and _start_next(sweep_id):
        num_created += 1
    with _locked(sweep_id) as sweep:
        if sweep is not None:
            _end(sweep)
    return num_created


def _at_work() -> QuerySet[Sweep]:
    return Sweep.objects.filter(ended_at=None)


@contextmanager
def _locked(sweep_id: UUID) -> Iterator[Sweep | None]:
    """The sweep, locked until the block ends and commits; None for one that has ended, or that another step works
    on."""
    with transaction.atomic():
        yield Sweep.objects.select_for_update(skip_locked=True).filter(pk=sweep_id, ended_at=None).first()


def _start_next(sweep_id: UUID) -> bool:
    """Create the next run; false where none is to be created now."""
    with _locked(sweep_id) as sweep:
        if sweep is None or sweep.state != SweepState.RUNNING or sweep.reason:
            return False
        plan, waiting = _plan(sweep), _waiting(sweep)
        place = waiting.select_related("point").order_by("point__number", "seed").first()
        if place is None or _live(sweep).count() >= plan.max_parallel_runs or _is_spent(sweep, plan, waiting.count()):
            return False
        return _fill(sweep, plan, place)


def _waiting(sweep: Sweep) -> QuerySet[SweepRun]:
    """The places that are still to be filled: all seeds of a point before those of the next. A pruned point has none,
    since it is judged once all its seeds have trained."""
    return SweepRun.objects.filter(point__sweep=sweep, filled_at=None)


def _live(sweep: Sweep) -> QuerySet[Run]:
    return Run.objects.filter(sweep_place__point__sweep=sweep).exclude(state__in=[state.value for state in END_STATES])


def _is_spent(sweep: Sweep, plan: SweepPlan, num_waiting: int) -> bool:
    if plan.budget_gpu_hours is None:
        return False
    spent = gpu_hours_of_sweeps([sweep.pk], timezone.now())[sweep.pk]
    if spent < plan.budget_gpu_hours:
        return False
    runs = "1 run was" if num_waiting == 1 else f"{num_waiting} runs were"
    _start_no_more(
        sweep, f"the budget of {plan.budget_gpu_hours:g} GPU-hours is spent ({spent:.4g} so far): {runs} not started"
    )
    return True


def _fill(sweep: Sweep, plan: SweepPlan, place: SweepRun) -> bool:
    """Create the run of a place in the name of the sweep's user. False where that user may not any more."""
    user, point = sweep.created_by, place.point
    if user is None or not user.is_active:
        _start_no_more(sweep, "the account in whose name its runs were created is gone: make the sweep again")
        return False
    num_seeds = "" if plan.num_seeds == 1 else f" seed {place.seed}"
    place.filled_at = timezone.now()
    try:
        place.run = create_run(
            user=user,
            project=sweep.project,
            name=f"{sweep.name} #{point.number}{num_seeds}",
            spec=with_values(plan.spec, {**point.values, "seed": place.seed}),
            parent=sweep.parent,
            origin=f"the sweep {sweep.name}: point {point.number}, seed {place.seed}",
        )
        place.made_run = place.run.pk
    except (PermissionDenied, Http404) as error:
        _start_no_more(sweep, f"{user.username} may create no runs in {sweep.project.name} any more: {error}")
        return False
    except ValidationError as error:
        # What was valid when the sweep was made has changed since, such as a prompt set that was deleted.
        place.problem = "; ".join(error.messages)
    place.save(update_fields=["run", "made_run", "filled_at", "problem"])
    return True


def _start_no_more(sweep: Sweep, reason: str) -> None:
    sweep.reason = reason
    sweep.save(update_fields=["reason"])


def _end(sweep: Sweep) -> None:
    """Note that a sweep has ended, once nothing of it works and nothing is to be started."""
    starts_more = sweep.state == SweepState.RUNNING and not sweep.reason and _waiting(sweep).exists()
    if starts_more or _live(sweep).exists():
        return
    sweep.state = SweepState.COMPLETED if sweep.state == SweepState.RUNNING else SweepState.STOPPED
    sweep.ended_at = timezone.now()
    sweep.save(update_fields=["state", "ended_at"])
    tell_of_end(sweep)


def _plan(sweep: Sweep) -> SweepPlan:
    return SweepPlan.model_validate(sweep.plan)
