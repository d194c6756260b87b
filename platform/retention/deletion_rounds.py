"""Carries out the deletion that a pool admin asked for, in rounds of some seconds.

    take: the open deletion, for a while ─► shares in order, each in pieces ─► give back, or end
                                            (`retention.deletion_pieces`)

Invariant: how far it is, and what is gone, are committed together with each piece, so that the next round goes on from
where one was killed. While a round works nobody else does: before each piece it locks the deletion, and stops where
that was cancelled, or taken by another round.
"""

import logging
import time
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from audit.record import record
from retention.deletion_pieces import NoLongerPast, delete_share
from retention.deletion_preview import Share, is_more
from retention.due import due
from retention.kinds import KINDS, Kind
from retention.models import Deletion, DeletionState
from runs.models import Run

logger = logging.getLogger(__name__)

ROUND_SECONDS = 10.0
"""Of one round, so that other tasks of the worker are not held up."""
LEASE = timedelta(seconds=60)
"""Far longer than a piece takes; a round that has not told of one for so long is lost."""
MAX_ROUNDS_LOST = 5


class Stopped(Exception):
    """The round is to stop: its time is over, or the deletion is no longer its own."""


def may_have_work() -> bool:
    """Whether a deletion is open."""
    return _open().exists()


def carry_out(*, max_seconds: float = ROUND_SECONDS) -> bool:
    """Work on the open deletion for about so long; false where there is none, or another round works on it. What a
    piece raises propagates, and counts as a lost round."""
    deletion = _take()
    if deletion is None:
        return False
    round_of_it = _Round(deletion, time.monotonic() + max_seconds)
    try:
        for share in deletion.shares[deletion.num_shares_done :]:
            round_of_it.delete(share)
    except Stopped:
        round_of_it.give_back()
    else:
        round_of_it.give_back(ended=DeletionState.SUCCEEDED)
    return True


class _Round:
    def __init__(self, deletion: Deletion, deadline: float) -> None:
        self._deletion = deletion
        self._deadline = deadline
        self._mine = Deletion.objects.filter(pk=deletion.pk, state=DeletionState.OPEN, round=deletion.round)

    def delete(self, share: Share) -> None:
        """Delete one share, or leave it where it is not past its days any more, or is of more than was shown. Raises
        `Stopped`."""
        kind, run_id = Kind(share["kind"]), UUID(share["run"])
        is_left = any(is_more(now, share) for now in due(kind, [run_id]))
        if not is_left:
            try:
                delete_share(kind, run_id, begin=self._begin, tell=self._tell)
            except NoLongerPast:
                is_left = True
        with transaction.atomic():
            self._begin()
            self._mine.update(
                num_shares_done=F("num_shares_done") + 1, num_shares_left=F("num_shares_left") + int(is_left)
            )
            if not is_left:
                self._record(share)

    def _record(self, share: Share) -> None:
        """Tell the audit log of the run that it lost what was shown, which may have taken several rounds."""
        run = Run.objects.get(pk=share["run"])
        record(
            "run.retention",
            run,
            user=self._deletion.requested_by,
            actor="" if self._deletion.requested_by else "a deleted account",
            project_id=run.project_id,
            deletion=str(self._deletion.pk),
            days=KINDS[Kind(share["kind"])].days,
            kind=share["kind"],
            num_rows=share["num_rows"],
            num_files=share["num_files"],
            num_bytes=share["num_bytes"],
        )

    def give_back(self, ended: DeletionState | None = None) -> None:
        """Let the next round go on, or end the deletion."""
        end = {"state": ended, "ended_at": timezone.now()} if ended else {}
        self._mine.update(worked_until=None, num_rounds_lost=0, **end)

    def _begin(self) -> None:
        is_mine = self._mine.select_for_update().exists()
        if not is_mine or time.monotonic() > self._deadline:
            raise Stopped
        self._mine.update(worked_until=timezone.now() + LEASE)

    def _tell(self, num_deleted: int) -> None:
        self._mine.update(num_items_deleted=F("num_items_deleted") + num_deleted)


def _open() -> QuerySet[Deletion]:
    return Deletion.objects.filter(state=DeletionState.OPEN)


@transaction.atomic
def _take() -> Deletion | None:
    """The open deletion, which no other round then works on; None where there is none to work on."""
    now = timezone.now()
    deletion = _open().select_for_update(skip_locked=True, of=("self",))
    taken = deletion.select_related("requested_by").first()
    if taken is None or (taken.worked_until is not None and taken.worked_until > now):
        return None
    if taken.worked_until is not None:
        taken.num_rounds_lost += 1
        logger.warning("a round of the deletion %s was lost, the %d. in a row", taken.pk, taken.num_rounds_lost)
    if taken.num_rounds_lost >= MAX_ROUNDS_LOST:
        taken.state, taken.ended_at = DeletionState.FAILED, now
        taken.problem = (
            f"{MAX_ROUNDS_LOST} rounds in a row broke off: the worker's log says why; make a new preview and try again"
        )
        taken.save()
        return None
    taken.round, taken.worked_until = taken.round + 1, now + LEASE
    taken.started_at = taken.started_at or now
    taken.save()
    return taken
