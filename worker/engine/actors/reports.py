"""The small values that pass between actors and the driver: no tensors, no torch import."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from worker.contracts.memory_shortages import MemoryShortage
from worker.engine.telemetry.log_forwarding import LogRecord
from worker.engine.types import ShardInfo
from worker.scheduling.core.messages import MicroBatchKey

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneLocation:
    """The process of a lane's actor."""

    node: str
    """The host's name."""
    node_id: str
    """Ray's id of the node."""
    pid: int
    """The process id on that host."""
    uuids: tuple[str, ...] = ()
    """UUIDs of the accelerators that the process sees; empty before it has loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProgress:
    """How far a lane is with the call it is at, as it says itself."""

    num_steps: int
    """As `worker.engine.step_count.num_steps`."""
    stack: tuple[str, ...]
    """Where in its program it is, the innermost call last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCollective:
    """A collective that a process has begun and not completed, by torch's flight recorder."""

    rank: int
    """The process's, in its own group of all."""
    operation: str
    """With its backend: `nccl:all_reduce`."""
    group: str
    """Number and description of the process group, as torch names it."""
    number: int
    """The how-manieth of its group: ranks in step have the same one open."""
    input_sizes: tuple[tuple[int, ...], ...]
    output_sizes: tuple[tuple[int, ...], ...]
    state: str
    """`scheduled`, or `started` where the backend tells that its device has begun."""
    seconds: float
    """Since it was called."""

    @property
    def sentence(self) -> str:
        sizes = ", ".join("×".join(map(str, size)) or "1" for size in self.input_sizes or self.output_sizes)
        of = f" of {sizes}" if sizes else ""
        return (
            f"{self.operation}{of}, number {self.number} of group {self.group}, {self.state} {self.seconds:.0f} s ago"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivingLane:
    """What a lane is that has outlived its driver."""

    node_id: str
    """Ray's id of its node."""
    device: str
    """The grant's."""
    code: str
    """As `uploaded_code`: the program that it runs."""
    loaded_as: str
    """The key of what it has loaded (`worker.engine.load_keys`); empty where it has not."""
    is_idle: bool
    """Whether the last driver's calls are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport(Generic[T]):
    """The answer to one actor call."""

    start: float
    """The lane's monotonic clock when the call began, in seconds."""
    end: float
    """The lane's monotonic clock when the call ended, in seconds."""
    value: T
    """The result of the call."""
    logs: tuple[LogRecord, ...] = ()
    """What the lane has logged since its previous report."""
    shortages: tuple[MemoryShortage, ...] = ()
    """For what its device had no memory since then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationReport:
    """What the driver reads of a generated fragment; pictures and trajectories stay in Ray's object store."""

    seeds: tuple[int, ...]
    """The noise seed of each member."""
    generate_seconds: float
    """The seconds of its denoising, as in `GeneratedFragment`."""
    decode_seconds: float
    """The seconds of decoding its latents, as in `GeneratedFragment`."""
    num_bytes: int = 0
    """Bytes of the fragment's trajectories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastReport:
    """What a trainer rank reports of the broadcast of its shards."""

    shards: tuple[ShardInfo, ...]
    """The shards, in order."""
    failure: str = ""
    """Why not all lanes can have received them; empty where they have been sent."""
    absent: tuple[str, ...] = ()
    """The lanes that it failed for, where it is known: they were not there, or had no memory for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredCheckpoint:
    """What the driver reads of a loaded checkpoint."""

    uri: str
    """The checkpoint that was loaded."""
    client_state: dict[str, Any]
    """The driver's state, as it was given to `save_checkpoint`."""
    behaviour_version: int | None = None
    """The older version that the next batch is generated with, where the checkpoint stores one."""
    behaviour_shards: tuple[ShardInfo, ...] = ()
    """The shards of that version, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendezvous:
    """The address at which the ranks of a torch.distributed group find each other."""

    address: str
    """The IP address of rank 0's node."""
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """One group of an accumulation, without its trajectories."""

    batch: int
    group: int
    advantages: tuple[float, ...]
    """The advantage of each member, in member order."""
    num_parts: int
    """How many of the parts of trajectories passed beside the plan belong to the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulationPlan:
    """One accumulation by one rank. The parts of trajectories that it needs are passed beside it as arguments, flat and
    in order of the groups, since Ray resolves only references that are arguments."""

    groups: tuple[GroupPlan, ...]
    """The groups of one batch that the micro-batches belong to."""
    micro_batches: tuple[MicroBatchKey, ...]
    """What the rank trains, in order."""
    num_padding: int
    """The number of passes of weight 0 after the micro-batches, over the first of them or of the first group."""
    num_pairs_total: int
    """The number of (trajectory, denoising step) pairs of the whole mini-batch, over all ranks."""
    fresh: bool
    """Whether no optimizer step was taken on this batch yet, so that the replay gate can be checked."""
    staleness: int
    """The trainer's policy version less the version that generated the batch."""

    @property
    def needs_behaviour(self) -> bool:
        """Whether the replay gate needs the weights that generated the batch, since those being trained differ."""
        return self.fresh and self.staleness > 0
