"""A policy version as the driver hands it on: what is known of its shards, and the references they lie behind.

The references go to lanes inside this value, so Ray does not fetch them with the call: a lane takes one shard at a
time, and none of a version that it holds already.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import ray
from ray import ObjectRef

from worker.engine.actors.reports import ShardFacts
from worker.engine.errors import SyncError
from worker.engine.types import version_checksum

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteVersion:
    """A `PublishedVersion` in the cluster's object store."""

    policy_version: int
    facts: tuple[ShardFacts, ...]
    refs: tuple[ObjectRef, ...]
    """One a shard, in order."""

    @property
    def sha256(self) -> str:
        return version_checksum([shard.sha256 for shard in self.facts])

    @property
    def num_tensors(self) -> int:
        return sum(len(shard.names) for shard in self.facts)

    @property
    def num_bytes(self) -> int:
        return sum(shard.num_bytes for shard in self.facts)

    def shards(self) -> Iterator[Any]:
        """Fetched one after the other. Raises what Ray raises for an object that was lost with its node."""
        for ref in self.refs:
            yield ray.get(ref)


PUBLISHING = "publishing"
PUBLISHING_GROUP = {PUBLISHING: 1}
"""Ray's concurrency groups of a trainer actor: one thread for this, beside the one for everything else."""


def take_snapshot(snapshot: tuple[int, T] | None, policy_version: int) -> T:
    """What was copied for `policy_version`. Raises `SyncError` when it is of another version, or none."""
    if snapshot is None or snapshot[0] != policy_version:
        raise SyncError(
            f"policy version {policy_version} must be copied by `snapshot` before it is published, "
            f"got {'no snapshot' if snapshot is None else f'one of version {snapshot[0]}'}"
        )
    return snapshot[1]
