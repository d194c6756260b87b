"""What node agents report to the web: which GPUs a node has, how they are linked, what they do now, and what ails them.

======  ==============================  ==========================================
verb    path                            body → answer
======  ==============================  ==========================================
POST    /api/ingest/v1/nodes/bootstrap  `BootstrapRequest` → `AgentBootstrapAnswer`
POST    /api/ingest/v1/nodes/reports    `NodeReports` → 204
======  ==============================  ==========================================

Reports carry `Authorization: Bearer <agent token>`. 401: bad token. 410: a newer agent has taken over, and this one
exits. A report replaces the one before it; one that does not arrive is not sent again, since the next is newer.

Units are those of the driver's tools: bytes, degrees Celsius, watts, megahertz; shares lie between 0 and 1. A value
that a card does not offer is empty, never 0.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field, field_validator

from worker.contracts.base import (
    MAX_EXACT_INTEGER,
    BigCount,
    Contract,
    Count,
    Index,
    Magnitude,
    ShortText,
    UnixTime,
    Value,
)

AGENT_BOOTSTRAP_PATH = "/api/ingest/v1/nodes/bootstrap"
REPORTS_PATH = "/api/ingest/v1/nodes/reports"
AGENT_HEADER = "X-Tandem-Agent"
"""Names the agent, by its session, beside its token."""
NODE_LABEL = "tandem/node"
"""The Ray label by which a node that Tandem started names itself."""
CPU_LANES_LABEL = "tandem/cpu-lanes"
"""The Ray label by which such a node says how many CPU lanes it has."""
DEFAULT_NUM_CPU_LANES = 4
"""CPU lanes of a node that does not say: enough to score for several runs, at half a CPU each."""
NUM_GPUS_VARIABLE = "TANDEM_NUM_GPUS"
"""In the environment of a Ray node: how many of its visible GPUs it offers, the first ones; all without it."""
GPU_TRACE_VARIABLE = "TANDEM_GPU_TRACE"
"""In the environment of a Ray node: path of a recorded trace that is replayed in place of the node's GPUs, as
`worker.node.readers.recorded` describes it. Lanes of such a node compute on its CPU."""
MAX_GPUS = 1024
"""The most devices of one node: 16 cards of 7 MIG slices are 112, so more means a broken report."""
MAX_NODES = 10_000
"""Of a cluster: five times what Ray is tested with."""
MAX_CPU_LANES = 4096
"""Of one node: several for each core of the largest machine."""
MAX_XIDS = 1000
"""Codes that one GPU may have shown: NVIDIA lists some 170."""


def are_same_devices(granted: Sequence[str], seen: Sequence[str]) -> bool:
    """Whether the UUIDs name the same devices. NVML writes `GPU-` or `MIG-` before a UUID, and torch does not."""
    return sorted(map(_bare, granted)) == sorted(map(_bare, seen))


def names_same_device(entry: str, device: str) -> bool:
    """Whether an entry of a visibility variable, which may be the beginning of a UUID, names this number or UUID."""
    return entry == device if device.isdecimal() else _bare(device).startswith(_bare(entry))


def _bare(uuid: str) -> str:
    return uuid.lower().removeprefix("gpu-").removeprefix("mig-")


Share = Annotated[float, Field(ge=0, le=1)]


def _empty_beyond(value: Any) -> Any:
    """A driver that has no value gives the largest number of its type, which is no reason to refuse a whole report."""
    return None if isinstance(value, int) and value > MAX_EXACT_INTEGER else value


Tally = Annotated[BigCount | None, BeforeValidator(_empty_beyond)]
"""A count that a driver keeps; empty where it does not."""


class Vendor(StrEnum):
    NVIDIA = "nvidia"
    AMD = "amd"
    ASCEND = "ascend"


class CardFigures(Contract):
    """What a card can do, measured on it while it was idle: products of matrices and copies, two seconds in all."""

    num_processors: Count
    """Streaming multiprocessors, or compute units."""
    bf16_flops: Annotated[Magnitude, Field(gt=0)]
    """Operations per second of the fastest product in bf16."""
    fp32_flops: Annotated[Magnitude, Field(gt=0)]
    """Likewise in fp32 without TF32."""
    memory_bandwidth: Annotated[Magnitude, Field(gt=0)]
    """Bytes per second, read and written together, of the fastest copy on the card."""


class GpuIdentity(Contract):
    """What a GPU is; changes only with its driver."""

    uuid: Annotated[str, Field(min_length=1, max_length=100)]
    """As its driver reports it; of a MIG slice, the slice's own."""
    index: Index
    """Its index on the node, in the order of PCI addresses; MIG slices have that of their card."""
    vendor: Vendor
    model: ShortText
    """The product name, by which the planner finds its hardware profile."""
    architecture: ShortText = ""
    compute_capability: ShortText = ""
    """`major.minor`; of an AMD GPU the target, such as `gfx942`."""
    memory_bytes: Tally = None
    pci_address: ShortText = ""
    """`domain:bus:device.function` in lower case, as Linux writes it."""
    driver: ShortText = ""
    """Version of the kernel driver."""
    runtime: ShortText = ""
    """Newest version of CUDA or ROCm that the driver serves."""
    max_sm_clock: Magnitude | None = None
    """The highest clock of its cores, in megahertz; below it under load something holds the card back."""
    parent_uuid: Annotated[str, Field(max_length=100)] = ""
    """Of a MIG slice: the card that it is part of."""
    figures: CardFigures | None = None
    """Of a card without a hardware profile, once its node has measured it."""


class GpuTopology(Contract):
    """How a GPU is linked to its node and to other GPUs."""

    numa_node: Tally = None
    """The NUMA node of the host's memory that is nearest."""
    nvlink_peers: Annotated[tuple[ShortText, ...], Field(max_length=MAX_GPUS)] = ()
    """UUIDs of the GPUs that it reaches over NVLink or xGMI, directly or through a switch."""
    num_nvlinks_up: Tally = None
    """Active NVLink links; fewer than on its peers means a link that is down."""


class GpuLive(Contract):
    """What a GPU does now."""

    utilisation: Share | None = None
    """Share of the last sampling period in which a kernel ran."""
    memory_used_bytes: Tally = None
    temperature: Value | None = None
    memory_temperature: Value | None = None
    power: Magnitude | None = None
    power_limit: Magnitude | None = None
    energy_joules: Magnitude | None = None
    """Since the driver was loaded."""
    sm_clock: Magnitude | None = None
    memory_clock: Magnitude | None = None
    num_processes: Tally = None
    """Processes that hold memory on it."""
    nvlink_bytes_per_second: Magnitude | None = None
    """Sent and received over all its NVLink links, since the reading before."""


class GpuFaults(Contract):
    """What the driver has counted against a GPU since it was loaded."""

    xids: Annotated[dict[Index, Count], Field(max_length=MAX_XIDS)] = {}
    """By Xid code: how often it was seen since the agent started."""
    ecc_corrected: Tally = None
    ecc_uncorrected: Tally = None
    remapped_rows: Tally = None
    """Rows of memory replaced by spares after uncorrectable errors."""
    retired_pages: Tally = None
    """Pages of memory taken out of use after errors, on cards without spare rows: NVIDIA's before Ampere, and AMD's."""
    remap_pending: bool = False
    """Rows wait for a reset to be replaced, or pages to be taken out of use."""
    remap_failed: bool = False
    """No spare row is left, or more pages are bad than the vendor allows: the card must be replaced."""
    throttle_reasons: tuple[ShortText, ...] = ()
    """Why its clocks are below what they could be, now; idling is no reason."""
    pcie_replays: Tally = None
    nvlink_errors: Tally = None
    """Errors of checksums, replays and recoveries of all its NVLink links."""
    recovery_action: ShortText = ""
    """What the driver itself says that the card needs, such as `reset GPU`; empty for nothing."""
    is_lost: bool = False
    """The driver lists the card no more, fails to reach it, or cannot use it before a reset."""


class GpuReport(Contract):
    """One GPU at one moment."""

    identity: GpuIdentity
    topology: GpuTopology = GpuTopology()
    live: GpuLive = GpuLive()
    faults: GpuFaults = GpuFaults()


RayNodeId = Annotated[str, Field(min_length=1, max_length=100)]


class ClusterNode(Contract):
    """What Ray says of a node that it counts as alive."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_-]*$", max_length=100)]
    """The node's name in the pool."""
    ray_node_id: RayNodeId
    address: ShortText
    """Its address in the cluster."""
    num_cpu_lanes: Annotated[Index, Field(le=MAX_CPU_LANES)] = 0
    """CPU lanes that it is to have when the pool first hears of it."""
    has_gpu_resources: bool = False
    """Whether Ray knows a custom resource for each of its GPUs, as on nodes that Tandem starts."""
    are_gpus_held: bool = True
    """Whether Ray gives its GPUs to Tandem; false as long as another program uses some of them."""
    object_store_bytes: Tally = None
    """What Ray's object store of the node may hold in shared memory."""


class NodeReport(Contract):
    """A node at one moment, as its own watcher sees it."""

    ray_node_id: RayNodeId
    at: UnixTime
    """The node's clock, in seconds since the epoch."""
    num_cpus: Count
    """Cores of the machine."""
    memory_bytes: BigCount
    memory_used_bytes: BigCount
    load: Magnitude
    """Processes that ran or waited for a core, averaged over a minute."""
    shm_free_bytes: Tally = None
    """What is free of `/dev/shm`, in which Ray's object store lies."""
    spill_free_bytes: Tally = None
    """What is free on the disk to which Ray moves objects that its store has no room for."""
    embeddings_room_bytes: Tally = None
    """What embeddings of prompts may take on the node's disk, those included that are stored there; null where its
    folder or bound cannot be used."""
    gpus: Annotated[tuple[GpuReport, ...], Field(max_length=MAX_GPUS)] = ()
    reader_error: Annotated[str, Field(max_length=500)] = ""
    """Why the GPUs could not be read; `gpus` are then those of the last successful reading, without live values."""


class NodeReports(Contract):
    """The nodes that Ray lists, and the reports that came since the agent's last post."""

    alive: Annotated[tuple[ClusterNode, ...], Field(max_length=MAX_NODES)]
    head_address: ShortText = ""
    """`host:port` by which further machines join the cluster."""
    nodes: Annotated[tuple[NodeReport, ...], Field(max_length=MAX_NODES)] = ()

    @field_validator("alive")
    @classmethod
    def _each_once(cls, alive: tuple[ClusterNode, ...]) -> tuple[ClusterNode, ...]:
        for what in ("name", "ray_node_id"):
            known = Counter(getattr(node, what) for node in alive)
            twice = next((value for value, number in known.items() if number > 1), None)
            if twice is not None:
                raise ValueError(f"each node must be listed once, got `{what}` {twice!r} of {known[twice]} nodes")
        return alive


class AgentBootstrapAnswer(Contract):
    """What an agent needs to report."""

    session: UUID
    """Identifies this agent; the newest one counts."""
    token: str
    """Bearer token of this agent for the ingest, held in memory only."""
    report_seconds: Annotated[float, Field(gt=0)] = 3.0
    """Seconds between two reports of a node."""
    names: dict[str, str] = {}
    """The name in the pool by Ray id, of the nodes that have one; others are named after their host."""
