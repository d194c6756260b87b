"""Deletes what is past its days, in pieces that each are a short transaction.

Files go before their rows: what is interrupted is found again by the next round. A run that is resumed meanwhile keeps
what it still has.
"""

import time
from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from audit.record import record
from gallery import storage
from gallery.models import Artifact
from retention.due import Due, cutoff, due
from retention.kinds import KINDS, Kind
from runs.models import Run

PIECE = 5000
"""Rows of one transaction, which takes well below a second; files are deleted by as many at most."""


def delete_due(kinds: Iterable[Kind] = Kind, *, actor: str, max_seconds: float = float("inf")) -> list[Due]:
    """Delete all that is due, or as much as `max_seconds` allow; answers what was deleted, as it was found before. Each
    run's share is in the audit log."""
    deadline = time.monotonic() + max_seconds
    deleted: list[Due] = []
    for kind in kinds:
        for share in due(kind):
            if time.monotonic() > deadline:
                return deleted
            if _delete(share):
                _record(share, actor)
                deleted.append(share)
    return deleted


def _delete(share: Due) -> bool:
    """Whether all of it was deleted."""
    kind, run_id = KINDS[share.kind], share.run.pk
    for rows in (kind.files(run_id), *kind.rows(run_id)):
        while True:
            with transaction.atomic():
                if not _is_still_past(share.kind, run_id):
                    return False
                if not _delete_piece(rows):
                    break
    return True


def _is_still_past(kind: Kind, run_id: UUID) -> bool:
    """Also keeps the run from being resumed until the piece is deleted."""
    return Run.objects.select_for_update().filter(pk=run_id, ended_at__lt=cutoff(kind)).exists()


def _delete_piece(rows: QuerySet[Artifact]) -> int:
    """How many rows were deleted."""
    piece = list(rows[:PIECE])
    if rows.model is Artifact:
        storage.delete([row.storage_key for row in piece])
    num_deleted, _ = rows.model._default_manager.filter(pk__in=[row.pk for row in piece]).delete()
    return num_deleted


def _record(share: Due, actor: str) -> None:
    record(
        "run.retention",
        share.run,
        user=None,
        actor=actor,
        project_id=share.run.project_id,
        kind=share.kind.value,
        days=KINDS[share.kind].days,
        num_rows=share.num_rows,
        num_files=share.num_files,
        num_bytes=share.num_bytes,
    )
