"""What the driver tells the members of a broadcast; no tensors, no torch import.

```text
source 0, trainer rank 0 ── group 0 ──► lane, lane, …       each source has a group of its own with all receiving lanes,
source 1, trainer rank 1 ── group 1 ──► lane, lane, …       so that sources never wait for each other in a collective
```

A lane receives shard 0 from source 0, shard 1 from source 1, and so on in the order of the shards.
"""

from dataclasses import dataclass

from worker.engine.types import shard_indices_of_rank

HOLD_NO_COPY = "set `pipeline.publishing` to `store`, which needs no buffer on it, or take devices with more memory"
"""What to change where a member has no memory for its buffers."""
READY_SECONDS = 10.0
"""How long a source waits for each lane to say that it is there: the thread that says so is idle, but a lane's process
may hold Python's lock for seconds while it compiles."""
LEAST_SECONDS = 10.0
"""The least limit of the broadcast of one shard."""
LEAST_BYTES_PER_SECOND = 50e6
"""The slowest broadcast that is waited for: a tenth of what a 10-gigabit network carries, in round numbers. Below it
fetching from the object store is no slower."""


@dataclass(frozen=True, slots=True)
class TensorPlace:
    """Where one tensor of a shard lies in its buffer."""

    name: str
    dtype: str
    """The name of the torch dtype, e.g. `bfloat16`."""
    shape: tuple[int, ...]
    start: int
    """Its first byte."""
    num_bytes: int


@dataclass(frozen=True, slots=True)
class ShardLayout:
    """A shard as one buffer of bytes, the same at both ends."""

    places: tuple[TensorPlace, ...]
    num_bytes: int
    """The buffer's, padding included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastEndpoint:
    """Where one trainer rank waits for lanes, and what it broadcasts."""

    address: str
    """The IP address of its node."""
    port: int
    layouts: tuple[ShardLayout, ...]
    """Of all shards of a version, the same on every rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastPlan:
    """The groups of one set of trainer ranks and lanes; it serves every version until the set changes."""

    number: int
    """Counts the plans of a driver from 1: members with equal numbers are of one group."""
    sources: tuple[BroadcastEndpoint, ...]
    """By trainer rank."""
    lanes: tuple[str, ...]
    """The receiving lanes."""

    @property
    def layouts(self) -> tuple[ShardLayout, ...]:
        """Of all shards, in order."""
        return self.sources[0].layouts

    def shards_of(self, source: int) -> range:
        """The indices of the shards that a source broadcasts."""
        return shard_indices_of_rank(len(self.layouts), rank=source, world_size=len(self.sources))

    def limit_seconds(self, shard: int) -> float:
        """How long the broadcast of a shard may take, the turns of the other sources included."""
        return LEAST_SECONDS + len(self.sources) * self.layouts[shard].num_bytes / LEAST_BYTES_PER_SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneBroadcast:
    """A version's broadcast that has ended at its sources."""

    number: int
    """The plan's."""
    lanes: tuple[str, ...]
    """The lanes that it was for."""


@dataclass(slots=True)
class StoppedPlans:
    """Why plans are of no use any more; written by one thread and read by another."""

    last: int = 0
    """All plans up to this number are stopped."""
    reason: str = ""

    def stop(self, number: int, reason: str) -> None:
        """Stop the plan of that number, and those before it."""
        self.reason, self.last = reason, max(number, self.last)

    def reason_of(self, plan: BroadcastPlan) -> str | None:
        """Why the plan is stopped; `None` while it serves."""
        return self.reason if plan.number <= self.last else None


def ready_key(plan: BroadcastPlan, policy_version: int, lane: str) -> str:
    """The key of a source's store under which a lane says that it is there for a version, by an empty value, or why it
    cannot receive it."""
    return f"{plan.number}/{policy_version}/ready/{lane}"


def state_key(plan: BroadcastPlan, policy_version: int) -> str:
    """The key of a source's store under which it says `GO`, or why it does not broadcast."""
    return f"{plan.number}/{policy_version}/state"


def group_key(plan: BroadcastPlan) -> str:
    """The prefix of the keys by which a source's group forms."""
    return f"{plan.number}/group"


GO = "go"
