"""Deletes what one run has of one kind, in pieces that each are a short transaction.

Files go before their rows: what is interrupted is found again by the next round. A run that is resumed meanwhile keeps
what it still has.
"""

from collections.abc import Callable
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from gallery import storage
from gallery.models import Artifact
from retention.due import runs_past
from retention.kinds import KINDS, Kind

PIECE = 5000
"""Rows of one transaction, which takes well below a second; files are deleted by as many at most."""


class NoLongerPast(Exception):
    """The run is not past the kind's days any more: it was resumed, the days were raised, or a mirror reads it."""


def delete_share(
    kind: Kind,
    run_id: UUID,
    *,
    begin: Callable[[], None] = lambda: None,
    tell: Callable[[int], None] = lambda num_deleted: None,
) -> None:
    """Delete all that the run has of the kind. `begin` and `tell` are called in each piece's transaction, before it and
    after it with the number of rows; what `begin` raises ends the deletion. Raises `NoLongerPast`."""
    for rows in (KINDS[kind].files([run_id]), *KINDS[kind].rows([run_id])):
        while True:
            with transaction.atomic():
                begin()
                _keep_past(kind, run_id)
                num_deleted = _delete_piece(rows)
                tell(num_deleted)
            if not num_deleted:
                break


def _keep_past(kind: Kind, run_id: UUID) -> None:
    """Also keeps the run from being resumed until the piece is deleted."""
    if not runs_past(kind).select_related(None).order_by().select_for_update().filter(pk=run_id).exists():
        raise NoLongerPast


def _delete_piece(rows: QuerySet[Artifact]) -> int:
    """How many rows were deleted."""
    piece = list(rows[:PIECE])
    if rows.model is Artifact:
        storage.delete([row.storage_key for row in piece])
    rows.model._default_manager.filter(pk__in=[row.pk for row in piece]).delete()
    return len(piece)
