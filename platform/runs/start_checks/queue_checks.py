"""Checks of the project's share and budget, and the forecast of when the run would start and end.

The forecast is that of the queue's page: the run is written, placed and forecast as any other, and taken back before
anybody sees it. So nothing here has to be kept equal to dispatch.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction

from accounts.models import Project
from fleet.allocation.bands import Band
from fleet.lane_demand import kinds_wanted
from fleet.models import ProjectBudget, WhenSpent
from fleet.selectors import all_lanes
from fleet.shares.shares import held_lanes, scarce_kind, shares
from fleet.shares.spending import Spending, in_words, spending
from runs.forecast.end_forecast import UNKNOWN, Basis
from runs.forks import ForkPoint
from runs.models import Run
from runs.queue.queue_board import Times, times
from runs.queue.queue_forecast import forecast
from runs.run_queue import current_queue
from runs.spec_columns import spec_columns
from runs.start_checks.check_rows import Check, CheckName, CheckState
from runs.wait_reasons import LanesOfPool, sentences
from worker.contracts.run_spec import RunSpec

AT_ONCE_SECONDS = 5.0
"""A start within it is called now: dispatch looks every few seconds."""
BASIS_WORDS = {Basis.HISTORY: "as long as runs like it took", Basis.PLAN: "as long as its plan promises"}


def project_check(spec: RunSpec, project: Project) -> Check:
    """The project's limit in the pool and its budget."""
    budget = ProjectBudget.objects.select_related("project").filter(pk=project.pk).first()
    spent = None if budget is None else spending(budget)
    if spent is not None and spent.is_spent:
        return _budget_spent(spent)
    pool, kind = spec.lanes.pool, scarce_kind(spec.lanes.pool)
    share = shares(pool).get(project.pk)
    held = held_lanes(pool, kind).get(project.pk, 0)
    wanted = kinds_wanted(spec.granted_lanes, all_lanes(pool)).get(kind, 0)
    if share is not None and share.limit is not None and held + wanted > share.limit:
        lanes = f"{share.limit} {kind.upper()} lanes of the pool {pool}"
        text = f"{project.name} may hold {lanes} and holds {held}; this run asks for {wanted}."
        remedy = "It waits for the project's other runs: ask for fewer lanes to start sooner."
        return _project(CheckState.WARNING, text, remedy)
    if spent is not None and spent.is_near:
        text = f"{spent.share:.0%} of the budget of {project.name} is spent."
        return _project(CheckState.WARNING, text, "A long run may be held back: ask a pool admin for more.")
    limit = "no limit" if share is None or share.limit is None else f"a limit of {share.limit} lanes, {held} held,"
    rest = "no budget" if spent is None else f"{spent.share:.0%} of its budget spent"
    return _project(CheckState.FINE, f"{project.name} has {limit} in the pool {pool} and {rest}.")


def _budget_spent(spent: Spending) -> Check:
    holds = spent.budget.when_spent in (WhenSpent.HOLD, WhenSpent.STOP)
    said = in_words(spent)
    then = "the run waits for a new one" if holds else "the run starts all the same"
    return _project(CheckState.WARNING, f"{said[0].upper()}{said[1:]}: {then}.", "Ask a pool admin for a new budget.")


def _project(state: CheckState, text: str, remedy: str = "") -> Check:
    return Check(CheckName.PROJECT, state, text, remedy)


@dataclass(frozen=True, slots=True)
class Expected:
    """When the run would start and end if it were created now; None where that is unknown."""

    checks: tuple[Check, Check]
    starts: Times | None
    ends: Times | None


def expected(spec: RunSpec, project: Project, fork: ForkPoint | None) -> Expected:
    with _as_if_created(spec, project, fork) as run:
        queue = current_queue(run.pool)
        expects = forecast(queue, run.pool)
        why = sentences(queue, LanesOfPool(run.pool)).get(run.pk, "")
    start, duration = expects.starts.get(run.pk), expects.durations.get(run.pk, UNKNOWN)
    end = None if start is None or duration.band is None else start + duration.band
    checks = (_queue(queue.position(run.pk), start, why), _end(start, duration.basis, duration.band))
    return Expected(checks, times(expects.at, start), times(expects.at, end))


@contextmanager
def _as_if_created(spec: RunSpec, project: Project, fork: ForkPoint | None) -> Iterator[Run]:
    """The run among those that wait, until the block is left."""
    with transaction.atomic():
        columns = spec_columns(spec) | ({} if fork is None else fork.columns())
        yield Run.objects.create(project=project, name="checked", prompts=[], **columns)
        transaction.set_rollback(True)


def _queue(ahead: int | None, start: Band | None, why: str) -> Check:
    if start is not None and start.latest < AT_ONCE_SECONDS:
        return Check(CheckName.QUEUE, CheckState.FINE, "Its lanes are free: it starts at once.")
    runs = "" if not ahead else f", behind {ahead} run{'s' * (ahead > 1)}"
    remedy = "Ask for fewer lanes or another pool to start sooner; other runs may be done with theirs before."
    if start is None:
        text = f"It waits{runs}, and nothing tells how long: {why or 'its lanes are held for an unknown time'}."
        return Check(CheckName.QUEUE, CheckState.UNKNOWN, text, remedy, "lanes.num_rollout")
    text = f"It waits about {_in_words(start)}{runs}: {why}."
    return Check(CheckName.QUEUE, CheckState.WARNING, text, remedy, "lanes.num_rollout")


def _end(start: Band | None, basis: Basis, duration: Band | None) -> Check:
    if duration is None:
        text = "No run of the same model, batch and lanes has been measured yet, and no plan promises a pace."
        return Check(
            CheckName.END, CheckState.UNKNOWN, text, "A plan predicts it (`POST /plans`); the first batches tell."
        )
    lasts = f"It holds its lanes about {_in_words(duration)}, {BASIS_WORDS.get(basis, 'as measured')}"
    if start is None:
        return Check(CheckName.END, CheckState.UNKNOWN, f"{lasts}; when it starts is unknown.")
    return Check(CheckName.END, CheckState.FINE, f"{lasts}: it ends about {_in_words(start + duration)} from now.")


def _in_words(band: Band) -> str:
    """`12 min (8 to 20 min)`."""
    return f"{_duration(band.likely)} ({_duration(band.earliest)} to {_duration(band.latest)})"


def _duration(seconds: float) -> str:
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
