"""When the runs that hold lanes end, and how long those that wait will hold theirs: rows in, forecasts out.

Invariant: reads are a few queries, however many runs there are; plans are read where they were made before, and never
made for a forecast.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from django.conf import settings

from fleet.allocation.bands import Band
from fleet.selectors import pool_devices
from runs.forecast.end_forecast import UNKNOWN, Basis, Outcome, Pace, from_history, from_plan, left_of, remaining
from runs.forecast.paces import alike, likenesses_of, newest_starts, pace_of, paces_of
from runs.models import Attempt, PlanRevision, Run, RunPace
from runs.planning.device_order import likely_devices
from runs.planning.plan_cache import NOT_PLANNED_BY, kept_plan
from worker.contracts.names import Placement
from worker.contracts.states import RunState

MAX_PLANS_READ = 20
"""Plans that are looked up for one forecast of the queue; each is a query and a digest of its spec."""


def ends_of(run_ids: Iterable[UUID], now: datetime) -> dict[UUID, Outcome]:
    """When the open attempts of these runs end, in seconds from `now`; runs without one are left out."""
    attempts = Attempt.objects.filter(run_id__in=list(run_ids), ended_at=None).select_related("run")
    rows = {row.run_id: row for row in attempts.defer("run__prompts")}
    working = [row.run for row in rows.values() if row.run.run_state in (RunState.STARTING, RunState.RUNNING)]
    durations = whole_durations(working)
    paces = paces_of(rows)
    return {run_id: _end(row, paces.get(run_id), durations.get(run_id, UNKNOWN), now) for run_id, row in rows.items()}


def _end(attempt: Attempt, row: RunPace | None, whole: Outcome, now: datetime) -> Outcome:
    """`whole` is the forecast of the attempt's whole duration, for as long as nothing of it was measured."""
    run = attempt.run
    if run.run_state is RunState.STOPPING:
        since = (now - (run.ending_at or run.state_changed_at)).total_seconds()
        limit = settings.TANDEM_MAX_STOP_SECONDS
        return Outcome(left_of(Band(0.0, limit / 2, limit), since), Basis.STOP_LIMIT)
    if run.run_state not in (RunState.STARTING, RunState.RUNNING):
        # A paused run may be resumed at any time, or never.
        return UNKNOWN
    if row is not None and row.attempt == attempt.number and row.start_seconds is not None:
        # After a resize nothing is measured for the length of a batch.
        num_left = max(run.num_batches - row.version, 0)
        band = remaining(num_left, pace_of(row), max(now.timestamp() - row.published_at, 0.0))
        return UNKNOWN if band is None else Outcome(band, Basis.MEASURED)
    if whole.band is None:
        return UNKNOWN
    return Outcome(left_of(whole.band, (now - attempt.created_at).total_seconds()), whole.basis)


def whole_durations(runs: Iterable[Run]) -> dict[UUID, Outcome]:
    """How long the next attempt of each run, or that which has measured nothing yet, holds its lanes as a whole."""
    wanted = {run.pk: run for run in runs}
    likeness = likenesses_of(wanted.values())
    known = alike(likeness.values())
    found = {pk: _by_history(run, known.get(likeness.get(pk, ""), [])) for pk, run in wanted.items()}
    return found | _by_plan([run for pk, run in wanted.items() if found[pk] is UNKNOWN])


def _by_history(run: Run, paces: list[Pace]) -> Outcome:
    band = from_history(_num_left(run), paces)
    return UNKNOWN if band is None else Outcome(band, Basis.HISTORY)


def _by_plan(unknown: list[Run]) -> dict[UUID, Outcome]:
    """Of those of the runs that the planner places."""
    runs = _read_specs(unknown) if unknown else []
    promised = _batch_seconds_by_plan(runs) if runs else {}
    starts = newest_starts() if promised else []
    found = {}
    for run in runs:
        seconds = promised.get(run.pk)
        band = None if seconds is None else from_plan(_num_left(run), seconds, starts)
        found[run.pk] = UNKNOWN if band is None else Outcome(band, Basis.PLAN)
    return found


def _read_specs(runs: list[Run]) -> list[Run]:
    """Those of the runs that the planner places, with their specs."""
    rows = Run.objects.filter(pk__in=[run.pk for run in runs], spec__pipeline__placement=Placement.AUTO)
    specs = dict(rows.order_by().values_list("pk", "spec"))
    found = [run for run in runs if run.pk in specs]
    for run in found:
        run.spec = specs[run.pk]
    return found


def _batch_seconds_by_plan(runs: list[Run]) -> Mapping[UUID, float]:
    """Seconds of a batch as promised: by the run's newest plan, else by a plan for the first lanes of the pool that was
    made before, such as for the form."""
    found: dict[UUID, float] = {}
    for revision in PlanRevision.objects.filter(run__in=runs).order_by("number"):
        found[revision.run_id] = revision.plan["by_mode"][revision.plan["mode"]]["batch_seconds"]
    by_question: dict[str, float | None] = {}
    for run in runs:
        if run.pk in found:
            continue
        question = _question(run)
        if question not in by_question:
            if len(by_question) == MAX_PLANS_READ:
                continue
            by_question[question] = _kept_batch_seconds(run)
        seconds = by_question[question]
        if seconds is not None:
            found[run.pk] = seconds
    return found


def _question(run: Run) -> str:
    """What a plan depends on: runs of a sweep often ask for the same one."""
    asked = {name: section for name, section in run.spec.items() if name not in NOT_PLANNED_BY}
    return json.dumps([asked, run.resized_lanes], sort_keys=True)


def _kept_batch_seconds(run: Run) -> float | None:
    spec = run.sized_spec
    kept = kept_plan(spec, likely_devices(spec, pool_devices(spec.lanes.pool)))
    return None if kept is None else float(kept["by_mode"][kept["mode"]]["batch_seconds"])


def _num_left(run: Run) -> int:
    return max(run.num_batches - (run.resume_batch if run.resume_from else 0), 0)
