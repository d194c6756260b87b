"""What one lane's device can do: peak rates from data sheets, and how much of a peak real diffusion work reaches.

Only priors: as soon as a run has measured its own costs, those replace everything that follows from here. Peak rates
are the makers' (dense, bf16); efficiencies are uncertain, so each carries the range that the sources allow.
`deploy/docs/pipeline.md` tells where each number comes from.
"""

from dataclasses import dataclass, fields, replace
from typing import Literal

GB = 1e9

Edge = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that is not known exactly: what is reckoned with, and the range of it."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.value <= self.high:
            raise ValueError(f"`value` must be within `low` and `high`, got {self.value}, {self.low} and {self.high}")

    def at(self, edge: Edge) -> "Estimate":
        """The same range, reckoned with at one of its ends."""
        return Estimate(getattr(self, edge), self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One lane's device. Rates are for one second; bandwidths in bytes of one direction."""

    name: str
    peak_flops: float
    """Dense floating-point operations a second, in bf16 (CPU cores: fp32)."""
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
    turn_seconds: Estimate
    """A turn from training to generation or back, where nothing has to be moved: caches freed, memory reclaimed."""
    source: str

    def at(self, field: str, edge: Edge) -> "Accelerator":
        """With one of the uncertain fields at an end of its range. Raises `ValueError` for a field that is certain."""
        estimate = getattr(self, field, None)
        if not isinstance(estimate, Estimate):
            uncertain = [item.name for item in fields(self) if isinstance(getattr(self, item.name), Estimate)]
            raise ValueError(f"`field` must be one of {', '.join(uncertain)}, got `{field}`: the rest has no range")
        return replace(self, **{field: estimate.at(edge)})  # type: ignore[arg-type]


def _gigabits(number: float) -> float:
    return number * 1e9 / 8


L40S = Accelerator(
    name="l40s",
    peak_flops=362.05e12,
    memory_bytes=48.3 * GB,
    memory_bandwidth=864 * GB,
    host_bandwidth=25 * GB,
    network_bandwidth=_gigabits(200),
    generation_efficiency=Estimate(0.35, 0.28, 0.50),
    training_efficiency=Estimate(0.35, 0.26, 0.45),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    turn_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA L40S data sheet: 362.05 TFLOPS bf16 dense, 48 GB GDDR6 (46,068 MiB), 864 GB/s, PCIe 4.0 x16",
)
H100 = Accelerator(
    name="h100",
    peak_flops=989.4e12,
    memory_bytes=85.5 * GB,
    memory_bandwidth=3350 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(400),
    generation_efficiency=Estimate(0.35, 0.26, 0.50),
    training_efficiency=Estimate(0.35, 0.26, 0.45),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    turn_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA H100 SXM data sheet: 989.4 TFLOPS bf16 dense, 80 GB HBM3 (81,559 MiB), 3.35 TB/s, PCIe 5.0 x16",
)
H20 = Accelerator(
    name="h20",
    peak_flops=148e12,
    memory_bytes=102.6 * GB,
    memory_bandwidth=4000 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(200),
    generation_efficiency=Estimate(0.65, 0.50, 0.80),
    training_efficiency=Estimate(0.65, 0.45, 0.75),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    turn_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA H20: 148 TFLOPS bf16 dense, 96 GB HBM3 (97,871 MiB), 4.0 TB/s, PCIe 5.0 x16",
)
CPU_CORE = Accelerator(
    name="cpu",
    peak_flops=64e9,
    memory_bytes=8 * GB,
    memory_bandwidth=10 * GB,
    host_bandwidth=10 * GB,
    network_bandwidth=2 * GB,
    generation_efficiency=Estimate(0.3, 0.1, 0.6),
    training_efficiency=Estimate(0.3, 0.1, 0.6),
    layer_overhead_seconds=Estimate(0.5e-3, 0.2e-3, 2e-3),
    turn_seconds=Estimate(0.02, 0.0, 0.2),
    source="an x86-64 core at 2 GHz, two 256-bit fused multiply-add units: 2 × 8 × 2 × 2e9 fp32 operations a second",
)
HOST_SOCKET = Accelerator(
    name="host",
    peak_flops=115e12,
    memory_bytes=256 * GB,
    memory_bandwidth=300 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(100),
    generation_efficiency=Estimate(0.20, 0.05, 0.40),
    training_efficiency=Estimate(0.20, 0.05, 0.40),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 1e-3),
    turn_seconds=Estimate(0.02, 0.0, 0.2),
    source="Intel Xeon Platinum 8480+: 56 cores at 2.0 GHz with AMX, 1,024 bf16 operations a cycle and core",
)

ACCELERATORS = {device.name: device for device in (L40S, H100, H20, CPU_CORE, HOST_SOCKET)}


def accelerator(name: str) -> Accelerator:
    """Raises `ValueError` for a device that is not described here."""
    if name not in ACCELERATORS:
        raise ValueError(f"`accelerator` must be one of {', '.join(ACCELERATORS)}, got `{name}`")
    return ACCELERATORS[name]
