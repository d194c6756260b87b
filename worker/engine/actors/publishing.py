"""The thread in which a trainer rank publishes its share while the gang trains on.

Snapshots and publishes take turns: the scheduler asks for no snapshot before the version of the last is on offer.
"""

from typing import TypeVar

from worker.engine.errors import SyncError

PUBLISHING = "publishing"
PUBLISHING_GROUP = {PUBLISHING: 1}
"""Ray's concurrency groups of a trainer actor: one thread for this, beside the one for everything else."""

T = TypeVar("T")


def take_snapshot(snapshot: tuple[int, T] | None, policy_version: int) -> T:
    """What was copied for `policy_version`. Raises `SyncError` when it is of another version, or none."""
    if snapshot is None or snapshot[0] != policy_version:
        raise SyncError(
            f"policy version {policy_version} must be copied by `snapshot` before it is published, "
            f"got {'no snapshot' if snapshot is None else f'one of version {snapshot[0]}'}"
        )
    return snapshot[1]
