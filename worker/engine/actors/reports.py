"""The small values that actors hand to the driver: no tensors, no torch import."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from worker.engine.telemetry.log_forwarding import LogRecord

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePlace:
    """Where a lane landed."""

    node: str
    """The host's name."""
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport(Generic[T]):
    """The answer to one actor call. Times are of the lane's own monotonic clock, in seconds."""

    start: float
    end: float
    value: T
    logs: tuple[LogRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationReport:
    """What the driver needs to know of a generated fragment; pictures and trajectories stay behind references."""

    seeds: tuple[int, ...]
    decode_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardFacts:
    """A published shard, without its tensors."""

    names: tuple[str, ...]
    num_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a checkpoint brought back."""

    client_state: dict[str, Any]
    behaviour_version: int | None = None
    """Of the older weights that the next batch had begun on, where there are such."""
    behaviour: tuple[ShardFacts, ...] = ()
    """Their shards, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendezvous:
    """Where the ranks of one torch.distributed group meet."""

    address: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """One group of an accumulation; `num_fragments` of the trajectories that follow belong to it, in member order."""

    batch: int
    group: int
    advantages: tuple[float, ...]
    num_fragments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulationPlan:
    """One accumulation of complete groups of one batch; their trajectories follow, flat and in order."""

    groups: tuple[GroupPlan, ...]
    num_pairs_total: int
    """Of the whole mini-batch."""
    fresh: bool
    """No optimizer step was taken on this batch yet: the replay gate is judged on what comes of it."""
    staleness: int
    """The version being trained − the version that drew the batch."""

    @property
    def needs_behaviour(self) -> bool:
        """Whether the gate must replay with the adapter that drew the batch."""
        return self.fresh and self.staleness > 0
