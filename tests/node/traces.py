"""Recorded traces of GPUs, made here: what a reader would have said, second by second.

They are synthetic: no driver wrote them. Their numbers are what NVML answers on such cards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worker.contracts.node_reports import GpuFaults, GpuIdentity, GpuLive, GpuReport, GpuTopology, Vendor
from worker.node.readers.recorded import TraceLine

GIB = 2**30
Reading = tuple[float, Sequence[GpuReport] | str]
"""Seconds after the start, and the cards or an error's message in their place."""


@dataclass(frozen=True, slots=True)
class Model:
    """A kind of card, as its driver names it."""

    name: str
    architecture: str
    compute_capability: str
    memory_gib: int
    power_limit: float
    sm_clock: float
    memory_clock: float
    num_nvlinks: int | None


MODELS = {
    "H100": Model("NVIDIA H100 80GB HBM3", "Hopper", "9.0", 80, 700, 1980, 2619, 18),
    "H20": Model("NVIDIA H20", "Hopper", "9.0", 96, 500, 1980, 2619, 18),
    "A100": Model("NVIDIA A100-SXM4-80GB", "Ampere", "8.0", 80, 400, 1410, 1593, 12),
    "L40S": Model("NVIDIA L40S", "Ada", "8.9", 48, 350, 2520, 9001, None),
}


def cards(model: str, number: int, *, prefix: str = "") -> list[GpuReport]:
    """So many healthy, idle cards of one node; those that have NVLink are linked."""
    kind = MODELS[model]
    uuids = [f"GPU-{prefix or model.lower()}-{index}" for index in range(number)]
    return [
        GpuReport(
            identity=GpuIdentity(
                uuid=uuid,
                index=index,
                vendor=Vendor.NVIDIA,
                model=kind.name,
                architecture=kind.architecture,
                compute_capability=kind.compute_capability,
                memory_bytes=kind.memory_gib * GIB,
                pci_address=f"0000:{index + 1:02x}:00.0",
                driver="580.95.05",
                runtime="CUDA 13.0",
                max_sm_clock=kind.sm_clock,
            ),
            topology=GpuTopology(
                numa_node=index * 2 // max(number, 1),
                nvlink_peers=tuple(other for other in uuids if other != uuid) if kind.num_nvlinks else (),
                num_nvlinks_up=kind.num_nvlinks,
            ),
            live=_idle(kind),
            faults=GpuFaults(ecc_corrected=0, ecc_uncorrected=0, remapped_rows=0, pcie_replays=0),
        )
        for index, uuid in enumerate(uuids)
    ]


def busy(card: GpuReport) -> GpuReport:
    """The card at work: 97 % of the time, at 93 % of its power."""
    memory, limit = card.identity.memory_bytes or 0, card.live.power_limit or 0
    used = {"memory_used_bytes": memory * 3 // 4, "num_processes": 1}
    return with_live(card, utilisation=0.97, power=0.93 * limit, temperature=62.0, **used)


def lost(card: GpuReport, **faults: Any) -> GpuReport:
    """The card as a reader reports one that stopped answering."""
    return with_faults(card, is_lost=True, **faults).model_copy(update={"live": GpuLive()})


def with_live(card: GpuReport, **values: Any) -> GpuReport:
    live = GpuLive.model_validate(card.live.model_dump() | values)
    return card.model_copy(update={"live": live})


def with_faults(card: GpuReport, **values: Any) -> GpuReport:
    faults = GpuFaults.model_validate(card.faults.model_dump() | values)
    return card.model_copy(update={"faults": faults})


def replaced(among: Sequence[GpuReport], index: int, card: GpuReport) -> list[GpuReport]:
    return [*among[:index], card, *among[index + 1 :]]


def write_trace(path: Path, *readings: Reading) -> str:
    """Write a trace for `TANDEM_GPU_TRACE`; returns its path."""
    lines = [
        TraceLine(after=after, error=found) if isinstance(found, str) else TraceLine(after=after, gpus=tuple(found))
        for after, found in readings
    ]
    path.write_text("".join(line.model_dump_json(exclude_none=True) + "\n" for line in lines))
    return str(path)


def _idle(kind: Model) -> GpuLive:
    return GpuLive(
        utilisation=0.0,
        memory_used_bytes=0,
        temperature=35.0,
        memory_temperature=40.0,
        power=0.1 * kind.power_limit,
        power_limit=kind.power_limit,
        energy_joules=1_000.0,
        sm_clock=kind.sm_clock,
        memory_clock=kind.memory_clock,
        num_processes=0,
    )
