"""What a pool admin is shown before anything is deleted, kept so that no more is deleted than that."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict
from uuid import UUID

from django.utils import timezone

from accounts.access import require_pool_admin
from accounts.models import User
from retention.due import Due, due
from retention.kinds import Kind
from retention.models import Deletion, DeletionState

MAX_SHARES = 2000
"""Of one preview, which is one answer and one row: about 500 KB."""
KEPT = timedelta(hours=24)
"""A preview that nobody asked for is forgotten after a day: what it says is no news any more."""


class Share(TypedDict):
    """What one run has of one kind, as it is kept."""

    kind: str
    run: str
    num_rows: int
    num_files: int
    num_bytes: int


@dataclass(frozen=True, slots=True)
class ShownDeletion:
    """A deletion that nobody has asked for yet, with what it was made of."""

    deletion: Deletion
    shares: list[Due]
    num_more: int
    """Shares that are past their days too, of runs that ended later; a preview after this deletion has them."""


def preview_deletion(*, user: User) -> ShownDeletion:
    """What is past its days now, longest ended first; nothing is deleted. For pool admins."""
    require_pool_admin(user)
    Deletion.objects.filter(state=DeletionState.SHOWN, made_at__lt=timezone.now() - KEPT).delete()
    found = sorted(
        (share for kind in Kind for share in due(kind)),
        key=lambda share: (share.run.ended_at, share.run.pk, share.kind),
    )
    shares = found[:MAX_SHARES]
    deletion = Deletion.objects.create(
        shares=[_kept(share) for share in shares],
        num_items=sum(share.num_rows + share.num_files for share in shares),
    )
    return ShownDeletion(deletion, shares, len(found) - len(shares))


def is_more(now: Due, shown: Share) -> bool:
    """Whether the run has more of the kind than was shown."""
    return now.num_rows > shown["num_rows"] or now.num_files > shown["num_files"]


def _order(share: Due) -> tuple[datetime, UUID, Kind]:
    return share.run.ended_at or timezone.now(), share.run.pk, share.kind


def _kept(share: Due) -> Share:
    return {
        "kind": share.kind.value,
        "run": str(share.run.pk),
        "num_rows": share.num_rows,
        "num_files": share.num_files,
        "num_bytes": share.num_bytes,
    }
