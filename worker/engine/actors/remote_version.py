"""A published policy version as the driver passes it to lanes: references to its shards in Ray's object store.

The references are passed inside a dataclass, so Ray does not resolve them when the call starts: a lane fetches one
shard at a time, and no shard of a version that it holds already.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import ray
from ray import ObjectRef

from worker.engine.errors import SyncError
from worker.engine.sync.broadcast_plan import DoneBroadcast
from worker.engine.types import ShardInfo, version_checksum

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteVersion:
    """A `PublishedVersion` in Ray's object store."""

    policy_version: int
    shard_infos: tuple[ShardInfo, ...]
    refs: tuple[ObjectRef, ...]
    """The reference to each shard, in the order of `shard_infos`. Of a version that is broadcast the shards may still
    be on their way to the store: fetching one then waits for it."""
    broadcast: DoneBroadcast | None = None
    """The broadcast that has brought the version to lanes, where there was one."""

    @property
    def sha256(self) -> str:
        """The checksum over all shards."""
        return version_checksum([shard.sha256 for shard in self.shard_infos])

    @property
    def num_tensors(self) -> int:
        """The number of tensors in all shards."""
        return sum(len(shard.names) for shard in self.shard_infos)

    @property
    def num_bytes(self) -> int:
        """The bytes of all shards."""
        return sum(shard.num_bytes for shard in self.shard_infos)

    def shards(self) -> Iterator[Any]:
        """Fetch the shards one after the other. Raises `ray.exceptions.ObjectLostError` for one lost with its node."""
        for ref in self.refs:
            yield ray.get(ref)


PUBLISHING = "publishing"
"""The name of the concurrency group of `publish`."""
PUBLISHING_GROUP = {PUBLISHING: 1}
"""Ray's concurrency groups of a trainer actor: one thread for publishing, beside the default one for all other
calls."""


def take_snapshot(snapshot: tuple[int, T] | None, policy_version: int) -> T:
    """The copies in a `(policy version, copies)` snapshot. Raises `SyncError` when there is none or it is of another
    version than `policy_version`."""
    if snapshot is None or snapshot[0] != policy_version:
        raise SyncError(
            f"policy version {policy_version} must be copied by `snapshot` before it is published, "
            f"got {'no snapshot' if snapshot is None else f'a snapshot of version {snapshot[0]}'}"
        )
    return snapshot[1]
