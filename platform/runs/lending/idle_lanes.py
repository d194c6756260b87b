"""Takes back GPUs that runs hold and do not use, where the pool's policy says so.

```text
GPUs of a run without any work for longer than the policy allows
   its elastic bounds allow fewer lanes ─► resize: these leave
   else all its GPUs do nothing          ─► pause; a run that is paused for long is parked (`runs.attempts.reconciler`)
   else                                  ─► only warned of: a gang is not taken apart
```

Invariant: the holder has been told since `idle_warning_minutes`, on the run's page and over REST, when it will happen;
nothing is lost, since a parked run goes on from its checkpoint.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from audit.record import record
from fleet.health.idleness import IdleGpu, by_run, idle_gpus
from fleet.models import Lane, LaneKind
from fleet.selectors import grants_of
from runs.legal_actions import legal_actions
from runs.models import Attempt, PendingCommand, Run, RunResize
from runs.resizing.elastic_bounds import spare_lanes
from runs.resizing.resize_services import ResizeUnderWay, WantedResize, request_resize
from runs.run_log import give_command
from runs.stream import lock_stream
from runs.transitions import RunStateConflict
from worker.contracts.commands import CommandKind
from worker.contracts.names import LaneRole
from worker.contracts.resizing import ResizeCause
from worker.contracts.states import END_STATES

logger = logging.getLogger(__name__)

POLICY = "idle policy"
"""Who pauses and releases, in histories."""


def idle_words(idle: Sequence[IdleGpu]) -> str:
    """What a run's page says of its GPUs that do nothing; empty for none."""
    if not idle:
        return ""
    lanes = ", ".join(sorted({gpu.lane for gpu in idle}))
    since = min(gpu.since for gpu in idle)
    told = f"{len(idle)} GPU{'s' * (len(idle) > 1)} of this run ({lanes}) have done nothing since {since:%d %b %H:%M}"
    ends = [gpu.release_at for gpu in idle if gpu.release_at is not None]
    return f"{told}: by the pool's policy they are taken back at {min(ends):%H:%M}" if ends else told


def idle_of(runs: Iterable[Run]) -> dict[UUID, str]:
    """What is said of the GPUs of these runs that do nothing, by run; those without any are left out."""
    return idle_in({run.pk for run in runs if run.run_state not in END_STATES})


def idle_in(holding: set[UUID]) -> dict[UUID, str]:
    """The same of runs that have not ended, by their ids."""
    idle = idle_gpus(timezone.now(), holding) if holding else []
    return {run_id: idle_words(gpus) for (run_id, _), gpus in by_run(idle).items()}


def release_idle_lanes() -> int:
    """Take the next step for each run with GPUs to take back; returns the number of runs that something was begun
    for."""
    now = timezone.now()
    due = [gpu for gpu in idle_gpus(now) if gpu.release_at is not None and gpu.release_at <= now]
    return sum(_step(run_id, attempt, idle) for (run_id, attempt), idle in by_run(due).items())


def _step(run_id: UUID, number: int, idle: Sequence[IdleGpu]) -> bool:
    attempt = Attempt.objects.select_related("run__project").filter(run=run_id, number=number, ended_at=None).first()
    if attempt is None or RunResize.objects.filter(run=run_id, ended_at=None).exists():
        return False
    idle_lanes = {gpu.lane for gpu in idle}
    with_gpus = Lane.objects.filter(run_id=run_id, attempt=number, kind=LaneKind.GPU)
    if set(with_gpus.values_list("name_in_run", flat=True)) <= idle_lanes:
        return _pause(attempt, min(gpu.since for gpu in idle))
    leaving = _spare(attempt, idle_lanes)
    return bool(leaving) and _release(attempt.run, leaving)


def _spare(attempt: Attempt, idle: set[str]) -> list[str]:
    """Those idle lanes that the run can do without by its spec. Trainer lanes stay: a gang without one of them would
    have to begin anew."""
    own = {grant.lane: grant.role for grant in grants_of(attempt.run_id, attempt.number)}
    return [lane for lane in spare_lanes(attempt, own) if lane in idle and own[lane] is not LaneRole.TRAINER]


def _release(run: Run, lanes: Sequence[str]) -> bool:
    try:
        request_resize(user=None, run=run, wanted=WantedResize(release=lanes), cause=ResizeCause.IDLE)
    except (ValidationError, RunStateConflict, ResizeUnderWay) as error:
        logger.info("idle lanes of run %s are not released now: %s", run.pk, error)
        return False
    return True


@transaction.atomic
def _pause(attempt: Attempt, since: datetime) -> bool:
    """Ask the driver to pause, once; its user resumes the run when there is work for it again."""
    lock_stream(attempt.run_id)
    run = Run.objects.get(pk=attempt.run_id)
    asked = PendingCommand.objects.filter(run=run, kind=CommandKind.PAUSE, created_by=None, created_at__gte=since)
    if CommandKind.PAUSE not in legal_actions(run) or asked.exists():
        return False
    give_command(run, CommandKind.PAUSE, giver=None, actor=POLICY)
    record("run.pause", run, user=None, actor=POLICY, project_id=run.project_id, idle_since=since)
    return True
