"""Answers of REST v1. Written by `generate.py` from `openapi.json`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from tandem.tolerant_model import Model


class CardFigures(Model):
    """What a card can do, measured on it while it was idle: products of matrices and copies, two seconds in all."""

    num_processors: int
    """Streaming multiprocessors, or compute units."""
    bf16_flops: float
    """Operations per second of the fastest product in bf16."""
    fp32_flops: float
    """Likewise in fp32 without TF32."""
    memory_bandwidth: float
    """Bytes per second, read and written together, of the fastest copy on the card."""


class GpuFaults(Model):
    """What the driver has counted against a GPU since it was loaded."""

    xids: Annotated[dict[str, int], Field(max_length=1000)]
    """By Xid code: how often it was seen since the agent started."""
    ecc_corrected: int | None
    ecc_uncorrected: int | None
    remapped_rows: int | None
    """Rows of memory replaced by spares after uncorrectable errors."""
    retired_pages: int | None
    """Pages of memory taken out of use after errors, on cards without spare rows: NVIDIA's before Ampere, and AMD's."""
    remap_pending: bool
    """Rows wait for a reset to be replaced, or pages to be taken out of use."""
    remap_failed: bool
    """No spare row is left, or more pages are bad than the vendor allows: the card must be replaced."""
    throttle_reasons: list[str]
    """Why its clocks are below what they could be, now; idling is no reason."""
    pcie_replays: int | None
    nvlink_errors: int | None
    """Errors of checksums, replays and recoveries of all its NVLink links."""
    recovery_action: str
    """What the driver itself says that the card needs, such as `reset GPU`; empty for nothing."""
    is_lost: bool
    """The driver lists the card no more, fails to reach it, or cannot use it before a reset."""


class GpuLive(Model):
    """What a GPU does now."""

    utilisation: float | None
    """Share of the last sampling period in which a kernel ran."""
    memory_used_bytes: int | None
    temperature: float | None
    memory_temperature: float | None
    power: float | None
    power_limit: float | None
    energy_joules: float | None
    """Since the driver was loaded."""
    sm_clock: float | None
    memory_clock: float | None
    num_processes: int | None
    """Processes that hold memory on it."""
    nvlink_bytes_per_second: float | None
    """Sent and received over all its NVLink links, since the reading before."""


class GpuTopology(Model):
    """How a GPU is linked to its node and to other GPUs."""

    numa_node: int | None
    """The NUMA node of the host's memory that is nearest."""
    nvlink_peers: list[str]
    """UUIDs of the GPUs that it reaches over NVLink or xGMI, directly or through a switch."""
    num_nvlinks_up: int | None
    """Active NVLink links; fewer than on its peers means a link that is down."""


class UsageRow(Model):
    """What one project, user, card, … used inside the window."""

    key: str
    """Id of what was summed over; empty where it was deleted."""
    name: str
    lane_hours: float
    """Hours of all lanes, CPU lanes too."""
    gpu_hours: float
    cost: Decimal | None
    """At the prices that the GPUs had when they were allocated; null where none had one."""
    num_runs: int
    unpriced_gpu_hours: float
    """GPU hours without a price, which the cost leaves out."""


class GpuIdentity(Model):
    """What a GPU is; changes only with its driver."""

    uuid: str
    """As its driver reports it; of a MIG slice, the slice's own."""
    index: int
    """Its index on the node, in the order of PCI addresses; MIG slices have that of their card."""
    vendor: Literal["nvidia", "amd", "ascend"] | str
    model: str
    """The product name, by which the planner finds its hardware profile."""
    architecture: str
    compute_capability: str
    """`major.minor`; of an AMD GPU the target, such as `gfx942`."""
    memory_bytes: int | None
    pci_address: str
    """`domain:bus:device.function` in lower case, as Linux writes it."""
    driver: str
    """Version of the kernel driver."""
    runtime: str
    """Newest version of CUDA or ROCm that the driver serves."""
    max_sm_clock: float | None
    """The highest clock of its cores, in megahertz; below it under load something holds the card back."""
    parent_uuid: str
    """Of a MIG slice: the card that it is part of."""
    figures: CardFigures | None
    """Of a card without a hardware profile, once its node has measured it."""


class GpuTestStep(Model):
    """One step of a test that has ended."""

    name: Literal["device", "matrix_product", "memory_sweep", "engine", "all_reduce"] | str
    outcome: Literal["passed", "failed", "skipped"] | str
    seconds: float
    detail: str
    """What was measured, or what went wrong, as a sentence."""


class PoolLane(Model):
    """A lane of the pool, and the run that holds it if you may see that run."""

    state: (
        Literal[
            "available",
            "allocated",
            "cordoned",
            "draining",
            "maintenance",
            "awaiting_test",
            "faulty",
            "lost",
        ]
        | str
    )
    place: str
    """What is decided about: a lane, its GPU or its node."""
    reason: str
    """Why it takes no work, or will take none once it is free."""
    changed_by: str
    """The user or the part of Tandem that decided so."""
    since: AwareDatetime | None
    """Since when it takes no work."""
    until: AwareDatetime | None
    """When maintenance ends, or by when what is drained has to be empty."""
    state_when_free: (
        Literal[
            "available",
            "allocated",
            "cordoned",
            "draining",
            "maintenance",
            "awaiting_test",
            "faulty",
            "lost",
        ]
        | str
    )
    """What it is once no run holds it."""
    id: int
    node: str
    pool: str
    """Name of the pool that it is in."""
    label: str
    kind: Literal["gpu", "cpu"] | str
    device: str
    takes_work: bool
    """Whether it takes new work once it is free."""
    role: str
    """Its role in the run that holds it."""
    held_since: AwareDatetime | None
    run_id: UUID | None
    """Id of the run that holds it; also null for a run of another project."""
    run_name: str


class GpuTest(Model):
    """A test that a GPU must pass before it takes work again."""

    id: UUID
    state: Literal["queued", "running", "passed", "failed"] | str
    requested_by: str
    created_at: AwareDatetime
    started_at: AwareDatetime | None
    """When its job was submitted."""
    ended_at: AwareDatetime | None
    peer: str
    """Name of the GPU that the all-reduce is with; empty for none."""
    steps: list[GpuTestStep]
    """Each step that has ended, in order."""
    reason: str
    """Why it failed, or what it waits for."""
    num_repeats: int
    """Tests before it whose jobs the cluster lost."""
    operation: str
    """Its operation: `GET /operations/{id}`."""


class PoolGpu(Model):
    """A GPU as its node's agent reported it last."""

    state: (
        Literal[
            "available",
            "allocated",
            "cordoned",
            "draining",
            "maintenance",
            "awaiting_test",
            "faulty",
            "lost",
        ]
        | str
    )
    place: str
    """What is decided about: a lane, its GPU or its node."""
    reason: str
    """Why it takes no work, or will take none once it is free."""
    changed_by: str
    """The user or the part of Tandem that decided so."""
    since: AwareDatetime | None
    """Since when it takes no work."""
    until: AwareDatetime | None
    """When maintenance ends, or by when what is drained has to be empty."""
    state_when_free: (
        Literal[
            "available",
            "allocated",
            "cordoned",
            "draining",
            "maintenance",
            "awaiting_test",
            "faulty",
            "lost",
        ]
        | str
    )
    """What it is once no run holds it."""
    labels: dict[str, str]
    notes: str
    price_per_gpu_hour: Decimal | None
    """Null for a GPU that costs what its node says."""
    operation: str | None
    """Its drain: `GET /operations/{id}`; null while it is not drained itself."""
    id: int
    node: str
    uuid: str
    """Empty until its driver was asked."""
    index: int
    accelerator: str
    lane: str
    """Label of the lane that it works for; empty if it has none."""
    health: Literal["healthy", "warning", "failed"] | str
    """By what its driver has counted since it was put into service."""
    health_causes: list[str]
    """What ails it, the worst first."""
    remedy: str
    """What its vendor recommends; `none` for nothing."""
    health_since: AwareDatetime
    slow_factor: float | None
    """Its seconds of work ÷ the median of its peers'; null unless it is slower than they."""
    idle_since: AwareDatetime | None
    """Since when it has done nothing for its run; null while it works or is free."""
    longest_idle_seconds: float
    """The longest time that it did nothing for its run."""
    identity: GpuIdentity | None
    topology: GpuTopology | None
    live: GpuLive | None
    faults: GpuFaults | None
    reported_at: AwareDatetime | None
    test: GpuTest | None
    """The test that it waits for, or that is under way."""


class PoolNode(Model):
    """A node with its GPUs and lanes."""

    state: (
        Literal[
            "available",
            "allocated",
            "cordoned",
            "draining",
            "maintenance",
            "awaiting_test",
            "faulty",
            "lost",
        ]
        | str
    )
    place: str
    """What is decided about: a lane, its GPU or its node."""
    reason: str
    """Why it takes no work, or will take none once it is free."""
    changed_by: str
    """The user or the part of Tandem that decided so."""
    since: AwareDatetime | None
    """Since when it takes no work."""
    until: AwareDatetime | None
    """When maintenance ends, or by when what is drained has to be empty."""
    labels: dict[str, str]
    notes: str
    price_per_gpu_hour: Decimal | None
    """Null for a GPU that costs what its node says."""
    operation: str | None
    """Its drain: `GET /operations/{id}`; null while it is not drained itself."""
    id: int
    name: str
    address: str
    is_drained: bool
    """Whether it is draining and no run is left on it."""
    num_cores: int | None
    memory_bytes: int | None
    memory_used_bytes: int | None
    object_store_bytes: int | None
    """What Ray's object store may hold in shared memory."""
    shm_free_bytes: int | None
    """What is free of the node's shared memory."""
    spill_free_bytes: int | None
    """What is free on the disk that Ray's objects spill to."""
    embeddings_room_bytes: int | None
    """What embeddings of prompts may take on the node's disk, stored ones included."""
    load: float | None
    in_cluster_at: AwareDatetime | None
    """When Ray last counted it as alive."""
    reported_at: AwareDatetime | None
    """When its own agent was last heard."""
    reader_error: str
    """Why its GPUs could not be read."""
    gpus_per_lane: int
    """How many of its GPUs make a lane; held lanes may have others."""
    num_lanes: int
    num_held: int
    gpus: list[PoolGpu]
    lanes: list[PoolLane]
