"""Deletes all that is past its days, as `manage.py retention` and the hourly task do."""

import time
from collections.abc import Iterable

from audit.record import record
from retention.deletion_pieces import NoLongerPast, delete_share
from retention.due import Due, due
from retention.kinds import KINDS, Kind


def delete_due(kinds: Iterable[Kind] = Kind, *, actor: str, max_seconds: float = float("inf")) -> list[Due]:
    """Delete all that is due, or as much as `max_seconds` allow; answers what was deleted, as it was found before. Each
    run's share is in the audit log."""
    deadline = time.monotonic() + max_seconds
    deleted: list[Due] = []
    for kind in kinds:
        for share in due(kind):
            if time.monotonic() > deadline:
                return deleted
            try:
                delete_share(share.kind, share.run.pk)
            except NoLongerPast:
                continue
            record(
                "run.retention",
                share.run,
                user=None,
                actor=actor,
                project_id=share.run.project_id,
                kind=kind.value,
                days=KINDS[kind].days,
                num_rows=share.num_rows,
                num_files=share.num_files,
                num_bytes=share.num_bytes,
            )
            deleted.append(share)
    return deleted
