"""Which runs each mirror follows: those that work while it is there, if it is for every run or they name it.

Invariant: a run that has ended is followed again when a user resumes it.
"""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.text import slugify

from catalog.models import Mirror
from mirrors.models import MirroredRun, MirroringState
from runs.models import Run
from worker.contracts.states import END_STATES, RunState

_WORKING = [state.value for state in set(RunState) - END_STATES]
MAX_LABEL_CHARS = 80
LOOK_AGAIN_AFTER = timedelta(minutes=1)
"""Ended runs are looked at again for so long, which saves a write in most rounds."""


def follow_runs() -> None:
    """Begin to follow runs that are new, and again those that were resumed."""
    for mirror in Mirror.objects.filter(is_active=True).defer("encrypted"):
        now = timezone.now()
        known = MirroredRun.objects.filter(mirror=mirror, run=OuterRef("pk"))
        wanted = Q(state__in=_WORKING) | Q(ended_at__gte=mirror.looked_at)
        runs = Run.objects.filter(wanted, ~Exists(known), project=mirror.project_id)
        if not mirror.is_for_every_run:
            runs = runs.filter(spec__mirrors__contains=[mirror.name])
        for run in runs.only("name"):
            follow(run, mirror)
        if now - mirror.looked_at > LOOK_AGAIN_AFTER:
            Mirror.objects.filter(pk=mirror.pk).update(looked_at=now)
    resumed = MirroredRun.objects.filter(state=MirroringState.DONE, run__state__in=_WORKING)
    resumed.update(state=MirroringState.FOLLOWING, next_at=timezone.now())


def follow(run: Run, mirror: Mirror) -> MirroredRun:
    """The run's row, made where there is none."""
    label = f"{slugify(run.name)[:MAX_LABEL_CHARS] or 'run'}-{run.pk.hex[:8]}"
    return MirroredRun.objects.get_or_create(run=run, mirror=mirror, defaults={"label": label})[0]
