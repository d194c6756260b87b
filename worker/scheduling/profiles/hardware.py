"""What one lane's device can do: peak rates from data sheets, and how much of a peak real diffusion work reaches.

Only priors: as soon as a run has measured its own costs, those replace everything that follows from here. Peak rates
are the makers' (dense, bf16); efficiencies are uncertain, so each carries the range that the sources allow.
`deploy/docs/pipeline.md` tells where each number comes from.
"""

from dataclasses import dataclass, fields, replace
from typing import Literal

GB = 1e9

RangeEnd = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that is not known exactly: what is reckoned with, and the range of it."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.value <= self.high:
            raise ValueError(f"`value` must be within `low` and `high`, got {self.value}, {self.low} and {self.high}")

    def at(self, edge: RangeEnd) -> "Estimate":
        """The same range, reckoned with at one of its ends."""
        return Estimate(getattr(self, edge), self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One lane's device. Rates are for one second; bandwidths in bytes of one direction."""

    name: str
    peak_flops: float
    """Dense floating-point operations a second, in bf16 (CPU cores: fp32)."""
    fp32_flops: float
    """In fp32, without TF32: what networks of rewards run in."""
    memory_bytes: float
    memory_bandwidth: float
    host_bandwidth: float
    """To and from the host's memory."""
    network_bandwidth: float
    """To other lanes."""
    generation_efficiency: Estimate
    """Share of the peak that a forward pass of a diffusion transformer reaches."""
    training_efficiency: Estimate
    """Share of the peak that forward, recomputation and backward reach together."""
    layer_overhead_seconds: Estimate
    """What one pass through one transformer block costs whatever its size: launching, dispatching."""
    switch_seconds: Estimate
    """A turn from training to generation or back, where nothing has to be moved: caches freed, memory reclaimed."""
    call_seconds: Estimate = Estimate(0.0, 0.0, 0.02)
    """What a call to a lane takes beside its work: the message there and the answer back. Nothing to work that takes
    seconds."""
    source: str

    def at(self, field: str, edge: RangeEnd) -> "Accelerator":
        """With one of the uncertain fields at an end of its range. Raises `ValueError` for a field that is certain."""
        estimate = getattr(self, field, None)
        if not isinstance(estimate, Estimate):
            uncertain = [item.name for item in fields(self) if isinstance(getattr(self, item.name), Estimate)]
            raise ValueError(f"`field` must be one of {', '.join(uncertain)}, got `{field}`: the rest has no range")
        return replace(self, **{field: estimate.at(edge)})  # type: ignore[arg-type]

    def with_fixed_share(self, edge: RangeEnd) -> "Accelerator":
        """With as small or as large a part of a call's seconds that does not depend on its size: launching and messages
        are as cheap or as dear, and arithmetic as slow or as fast, as their ranges allow."""
        ends = {name: getattr(self, name).at(edge) for name in _OF_FIXED_SHARE}
        return replace(self, **ends)


_OF_FIXED_SHARE = ("layer_overhead_seconds", "call_seconds", "generation_efficiency", "training_efficiency")


def _gigabits(number: float) -> float:
    return number * 1e9 / 8


L40S = Accelerator(
    name="l40s",
    peak_flops=362.05e12,
    fp32_flops=91.6e12,
    memory_bytes=48.3 * GB,
    memory_bandwidth=864 * GB,
    host_bandwidth=25 * GB,
    network_bandwidth=_gigabits(200),
    generation_efficiency=Estimate(0.35, 0.28, 0.50),
    training_efficiency=Estimate(0.35, 0.26, 0.45),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    switch_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA L40S data sheet: 362.05 TFLOPS bf16 dense, 91.6 fp32, 48 GB GDDR6 (46,068 MiB), 864 GB/s, "
    "PCIe 4.0 x16",
)
H100 = Accelerator(
    name="h100",
    peak_flops=989.4e12,
    fp32_flops=66.9e12,
    memory_bytes=85.5 * GB,
    memory_bandwidth=3350 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(400),
    generation_efficiency=Estimate(0.35, 0.26, 0.50),
    training_efficiency=Estimate(0.35, 0.26, 0.45),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    switch_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA H100 SXM data sheet: 989.4 TFLOPS bf16 dense, 66.9 fp32, 80 GB HBM3 (81,559 MiB), 3.35 TB/s, "
    "PCIe 5.0 x16",
)
H200 = Accelerator(
    name="h200",
    peak_flops=989.4e12,
    fp32_flops=66.9e12,
    memory_bytes=150.7 * GB,
    memory_bandwidth=4800 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(400),
    generation_efficiency=Estimate(0.35, 0.26, 0.50),
    training_efficiency=Estimate(0.35, 0.26, 0.45),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    switch_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA H200 SXM data sheet: 989.4 TFLOPS bf16 dense, 66.9 fp32, 141 GB HBM3e (143,771 MiB), 4.8 TB/s, "
    "PCIe 5.0 x16",
)
H20 = Accelerator(
    name="h20",
    peak_flops=148e12,
    fp32_flops=44e12,
    memory_bytes=102.6 * GB,
    memory_bandwidth=4000 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(200),
    generation_efficiency=Estimate(0.65, 0.50, 0.80),
    training_efficiency=Estimate(0.65, 0.45, 0.75),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    switch_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA H20: 148 TFLOPS bf16 dense, 44 fp32, 96 GB HBM3 (97,871 MiB), 4.0 TB/s, PCIe 5.0 x16",
)
CPU_CORE = Accelerator(
    name="cpu",
    peak_flops=100e9,
    fp32_flops=100e9,
    memory_bytes=8 * GB,
    memory_bandwidth=10 * GB,
    host_bandwidth=10 * GB,
    network_bandwidth=2 * GB,
    generation_efficiency=Estimate(0.41, 0.2, 0.6),
    training_efficiency=Estimate(0.35, 0.17, 0.5),
    layer_overhead_seconds=Estimate(1.3e-3, 0.8e-3, 2e-3),
    switch_seconds=Estimate(0.012, 0.0, 0.2),
    call_seconds=Estimate(7e-3, 2e-3, 20e-3),
    source="one core of a virtual AMD EPYC (family 26, 2.6 GHz), measured; see below",
)
"""Measured on 21 November 2026 with torch 2.13, one thread and the shapes model; bandwidths and memory are estimates.

* Peak: the largest of square fp32 matrix products of 128 to 2048, 95 to 102 GFLOP/s.
* `OMP_NUM_THREADS=1 nice -n 5 python -m tests.bench.lane_costs`: a fragment 31.3 ms and 2.84 ms more for each
  trajectory, a micro-batch 10.6 ms and 0.92 ms more for each pair (processor time, medians of 15). By the operations of
  the shapes profile (nothing is recomputed at its size) that is 0.41 and 0.35 of the peak, and 1.3 ms for a pass
  through one block, either way.
* Calls and turns: `make bench-pipeline-real` on two such cores. What a run pays above the work itself: 4 ms for a
  commit, 9 to 10 for a publish or a fragment, 15 for a pull; turns of 18 and 6 ms.
"""
HOST_SOCKET = Accelerator(
    name="host",
    peak_flops=115e12,
    fp32_flops=7.2e12,
    memory_bytes=256 * GB,
    memory_bandwidth=300 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(100),
    generation_efficiency=Estimate(0.20, 0.05, 0.40),
    training_efficiency=Estimate(0.20, 0.05, 0.40),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 1e-3),
    switch_seconds=Estimate(0.02, 0.0, 0.2),
    source="Intel Xeon Platinum 8480+: 56 cores at 2.0 GHz with AMX, 1,024 bf16 operations a cycle and core, "
    "64 in fp32",
)

ACCELERATORS = {device.name: device for device in (L40S, H100, H200, H20, CPU_CORE, HOST_SOCKET)}


def accelerator(name: str) -> Accelerator:
    """Raises `ValueError` for a device that is not described here."""
    if name not in ACCELERATORS:
        raise ValueError(f"`accelerator` must be one of {', '.join(ACCELERATORS)}, got `{name}`")
    return ACCELERATORS[name]
