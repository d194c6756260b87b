"""How fast runs get on: kept from their publishes, and read for forecasts of themselves and of runs like them.

Invariant: only what was measured on a run of the same likeness counts for another: the same workload, the same batch,
the same lanes and switches as its user asked for them.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from runs.forecast.end_forecast import Pace
from runs.models import Attempt, Run, RunPace, RunTransition
from worker.contracts.events import PublishEvent
from worker.contracts.states import RunState

MAX_KEPT = 32
"""Batches whose times are kept: enough for a spread, and few enough to follow a change of lanes within the hour."""
MAX_ALIKE = 10
"""Runs of one likeness that a forecast is made from, the newest."""
MAX_STARTS = 20
"""Runs whose starting time a forecast by plan is made from, the newest."""


def record_pace(run_id: UUID, attempt: int, event: PublishEvent) -> None:
    """Keep the time that the newest batches took: their mean, where a driver posts several at once, of which only the
    last is told here. Telemetry holds the run's stream lock."""
    pace = RunPace.objects.filter(run_id=run_id, attempt=attempt).first()
    if pace is None:
        _begin(run_id, attempt, event)
        return
    num_batches = event.policy_version - pace.version
    if num_batches > 0 and not _was_paused(run_id, pace.published_at):
        seconds = max(event.at - pace.published_at, 0.0) / num_batches
        if pace.start_seconds is None:
            pace.start_seconds = _start_seconds(pace, seconds)
        pace.batch_seconds = [*pace.batch_seconds, seconds][-MAX_KEPT:]
    pace.version, pace.published_at = event.policy_version, event.at
    pace.save()


def _begin(run_id: UUID, attempt: int, event: PublishEvent) -> None:
    """Keep the first publish of an attempt, which the time of its first batch is counted from."""
    run = Run.objects.defer("prompts").get(pk=run_id)
    values = {
        "attempt": attempt,
        "likeness": likeness_of(run),
        "version": event.policy_version,
        "published_at": event.at,
        "start_seconds": None,
        "batch_seconds": [],
    }
    RunPace.objects.update_or_create(run_id=run_id, defaults=values)


def begin_anew(run_id: UUID) -> None:
    """Forget the times measured so far: the run has other lanes now."""
    row = RunPace.objects.filter(run_id=run_id).first()
    if row is not None:
        row.likeness, row.batch_seconds = likeness_of(Run.objects.defer("prompts").get(pk=run_id)), []
        row.save()


def _start_seconds(pace: RunPace, batch_seconds: float) -> float:
    """From the allocation of the attempt's lanes until its first batch began; `pace` is as its first publish left
    it."""
    attempt = Attempt.objects.select_related("run").defer("run__prompts").get(run=pace.run_id, number=pace.attempt)
    num_done = max(pace.version - attempt.run.resume_batch, 0)
    return max(pace.published_at - attempt.created_at.timestamp() - num_done * batch_seconds, 0.0)


def _was_paused(run_id: UUID, since: float) -> bool:
    began = datetime.fromtimestamp(since, UTC)
    pauses = RunTransition.objects.filter(run_id=run_id, at__gte=began)
    return pauses.filter(old=RunState.PAUSED).exists() or pauses.filter(new=RunState.PAUSED).exists()


def likeness_of(run: Run) -> str:
    """Digest of what the pace of the run depends on, as far as its user chose it. Devices are not part of it: a run
    that waits does not know them."""
    return _digest(run, run.algebra, run.spec["pipeline"])


def likenesses_of(runs: Collection[Run]) -> dict[UUID, str]:
    """`likeness_of` each of these runs, of which specs need not have been read."""
    rows = Run.objects.filter(pk__in=[run.pk for run in runs]).order_by()
    parts = {pk: rest for pk, *rest in rows.values_list("pk", "algebra", "spec__pipeline")}
    return {run.pk: _digest(run, *parts[run.pk]) for run in runs if run.pk in parts}


def _digest(run: Run, algebra: Mapping[str, Any], pipeline: Mapping[str, Any]) -> str:
    counts = [algebra[name] for name in ("num_groups", "group_size", "num_minibatches", "num_epochs")]
    parts = [run.workload, counts, run.asked_lanes.model_dump(mode="json"), pipeline]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def paces_of(run_ids: Iterable[UUID]) -> dict[UUID, RunPace]:
    return RunPace.objects.in_bulk(list(run_ids))


def alike(likenesses: Iterable[str]) -> Mapping[str, list[Pace]]:
    """The paces of the newest runs of each likeness."""
    found: dict[str, list[Pace]] = {}
    for row in RunPace.objects.filter(likeness__in=set(likenesses)).order_by("-updated_at"):
        paces = found.setdefault(row.likeness, [])
        if len(paces) < MAX_ALIKE:
            paces.append(pace_of(row))
    return found


def newest_starts() -> list[float]:
    """How long the newest runs took from the allocation of their lanes until their first batch, in seconds."""
    rows = RunPace.objects.exclude(start_seconds=None).order_by("-updated_at")
    return [seconds for seconds in rows.values_list("start_seconds", flat=True)[:MAX_STARTS] if seconds is not None]


def pace_of(row: RunPace) -> Pace:
    return Pace(row.start_seconds, tuple(row.batch_seconds))
