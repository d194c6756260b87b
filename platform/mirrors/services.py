"""What users have done with a run's mirrors."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts.access import TO_EDIT_RUNS, TO_MANAGE_MIRRORS, require_role
from accounts.models import User
from audit.record import record
from catalog.models import Mirror
from mirrors.following import follow
from mirrors.models import MirroredRun, MirroringState
from runs.models import Run


@transaction.atomic
def mirror_run(*, user: User, run: Run, mirror: Mirror, from_beginning: bool = False) -> MirroredRun:
    """Have the run written to the mirror at once: begun where it was not, tried again where it failed, written again
    as a whole `from_beginning`. Raises `PermissionDenied`, `ValidationError`."""
    require_role(user, run.project, TO_EDIT_RUNS)
    if mirror.project_id != run.project_id:
        raise ValidationError({"mirror": f"`mirror` must be one of the run's project, got {mirror.name} of another"})
    if not mirror.is_active:
        raise ValidationError({"mirror": f"`mirror` must be on, and {mirror.name} is off: ask an owner of the project"})
    row = MirroredRun.objects.select_for_update().get(pk=follow(run, mirror).pk)
    row.state, row.next_at, row.num_failures = MirroringState.FOLLOWING, timezone.now(), 0
    if from_beginning:
        row.after_seq, row.batch, row.num_pictures_left_out, row.kept = 0, 0, 0, {}
    row.begun_at = None
    row.save()
    record("run.mirror", run, user=user, project_id=run.project_id, mirror=mirror.name, from_beginning=from_beginning)
    return row


@transaction.atomic
def try_mirror_again(*, user: User, mirror: Mirror) -> int:
    """Have all its runs tried again at once whose last try failed; returns how many."""
    require_role(user, mirror.project, TO_MANAGE_MIRRORS)
    failed = MirroredRun.objects.filter(mirror=mirror).exclude(error="").exclude(state=MirroringState.DONE)
    num = failed.update(state=MirroringState.FOLLOWING, next_at=timezone.now(), num_failures=0)
    record("mirror.try_again", mirror, user=user, project_id=mirror.project_id, num_runs=num)
    return num
