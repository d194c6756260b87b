"""Deletions as pool admins ask for them and take them back; `retention.deletion_rounds` carries them out."""

from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.access import NotVisible, require_pool_admin
from accounts.models import User
from audit.record import record
from retention.deletion_preview import Share, is_more
from retention.due import Due, due
from retention.kinds import Kind
from retention.models import Deletion, DeletionState
from runs.enqueue import enqueue_on_commit
from worker.contracts.task_names import CARRY_OUT_DELETION

NUM_NAMED = 3
"""Runs that a sentence names; the answer has all."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A share that holds more now than was shown."""

    shown: Share
    now: Due

    def __str__(self) -> str:
        now, shown = self.now, self.shown
        return (
            f"{now.run.name} has {now.num_rows} rows and {now.num_files} files of {now.kind}, and "
            f"{shown['num_rows']} and {shown['num_files']} were shown"
        )


class MoreThanShown(Exception):
    """More would go than the preview says."""

    def __init__(self, grown: list[Grown]) -> None:
        self.grown = grown
        named = "; ".join(map(str, grown[:NUM_NAMED]))
        more = f"; and {len(grown) - NUM_NAMED} more" if len(grown) > NUM_NAMED else ""
        super().__init__(f"more would be deleted than the preview shows: {named}{more}. Make a new preview")


class DeletionUnderWay(Exception):
    """Another deletion is under way."""

    def __init__(self) -> None:
        self.deletion = Deletion.objects.filter(state=DeletionState.OPEN).first()
        super().__init__("another deletion is under way: wait until it has ended, or cancel it")


@transaction.atomic
def ask_for_deletion(*, user: User, deletion_id: UUID) -> Deletion:
    """Have what a preview showed deleted, and nothing else; one that was asked for before is answered as it is. For
    pool admins.

    Raises:
        NotVisible: no preview has this id, or it was forgotten.
        MoreThanShown: a run has more now.
        DeletionUnderWay: another one is.
    """
    require_pool_admin(user)
    deletion = Deletion.objects.select_for_update().filter(pk=deletion_id).first()
    if deletion is None:
        raise NotVisible("no such preview, or one of more than a day ago: make a new one")
    if deletion.state != DeletionState.SHOWN:
        return deletion
    if grown := _grown(deletion):
        raise MoreThanShown(grown)
    deletion.state, deletion.requested_by, deletion.created_at = DeletionState.OPEN, user, timezone.now()
    try:
        with transaction.atomic():
            deletion.save(update_fields=["state", "requested_by", "created_at"])
    except IntegrityError as error:
        raise DeletionUnderWay from error
    num_by_kind = {kind: sum(share["kind"] == kind for share in deletion.shares) for kind in Kind}
    record("retention.delete", deletion, user=user, num_items=deletion.num_items, num_runs_by_kind=num_by_kind)
    enqueue_on_commit(CARRY_OUT_DELETION)
    return deletion


@transaction.atomic
def cancel_deletion(*, user: User, deletion: Deletion) -> None:
    """Delete no more of it; what is deleted stays deleted. It waits for the piece that is being deleted. For pool
    admins; one that has ended stays as it is."""
    require_pool_admin(user)
    locked = Deletion.objects.select_for_update().get(pk=deletion.pk)
    if locked.state != DeletionState.OPEN:
        return
    locked.state, locked.ended_at = DeletionState.CANCELLED, timezone.now()
    locked.save(update_fields=["state", "ended_at"])
    record("retention.cancel", locked, user=user, num_items_deleted=locked.num_items_deleted)


def _grown(deletion: Deletion) -> list[Grown]:
    shown: dict[tuple[str, str], Share] = {(share["kind"], share["run"]): share for share in deletion.shares}
    now = [share for kind in Kind if any(kind == of for of, _ in shown) for share in due(kind)]
    pairs = [(shown.get((share.kind.value, str(share.run.pk))), share) for share in now]
    return [Grown(before, share) for before, share in pairs if before is not None and is_more(share, before)]
