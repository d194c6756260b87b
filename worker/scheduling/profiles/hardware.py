"""What one lane's device can do: peak rates from data sheets, and the share of the peak that diffusion work reaches.

Peak rates are the makers' (dense, bf16); efficiencies are uncertain, so each has the range that its sources allow.
`deploy/docs/reports/pipeline.md` gives the source of each number. Invariant: these are only priors; costs that a run
has measured replace everything derived from them.
"""

from dataclasses import dataclass, replace
from typing import Literal

from worker.contracts.device_names import several

GB = 1e9
"""Bytes; decimal, as in data sheets."""

RangeEnd = Literal["low", "high"]
"""One end of an estimate's range."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that is not known exactly."""

    value: float
    """The number that is used."""
    low: float
    """The smallest number that the sources allow."""
    high: float
    """The largest number that the sources allow."""

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.value <= self.high:
            raise ValueError(
                f"`value` must be within `low` and `high`, got {self.value}, {self.low} and {self.high}: "
                "widen the range or correct the value"
            )

    def at(self, end: RangeEnd) -> "Estimate":
        """The same range, with the number at one of its ends."""
        return Estimate(getattr(self, end), self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One lane's device. Rates are per second; bandwidths are in bytes per second, in one direction. All are those of
    one GPU, also where the lane has several."""

    name: str
    num_gpus: int = 1
    """The GPUs of the lane."""
    peak_flops: float
    """Dense floating-point operations per second in bf16 (on CPU cores: in fp32)."""
    fp32_flops: float
    """Floating-point operations per second in fp32 without TF32, in which scorers' networks run."""
    memory_bytes: float
    """Bytes of the device's own memory."""
    memory_bandwidth: float
    """Bytes per second between the device and its own memory."""
    host_bandwidth: float
    """Bytes per second between the device and the host's memory."""
    network_bandwidth: float
    """Bytes per second to other lanes."""
    link_bandwidth: float
    """Bytes per second to the other GPUs of the lane, which are on one node."""
    generation_efficiency: Estimate
    """The share of the peak that a forward pass of a diffusion transformer reaches."""
    training_efficiency: Estimate
    """The share of the peak that forward, recomputation and backward reach together."""
    layer_overhead_seconds: Estimate
    """Seconds of one pass through one transformer block that do not depend on its size: launching, dispatching."""
    switch_seconds: Estimate
    """Seconds of a switch between training and generation in which no weights move: caches are freed, memory is
    reclaimed."""
    call_seconds: Estimate = Estimate(0.0, 0.0, 0.02)
    """Seconds of a call to a lane beside its work: the message there and the answer back. They hardly matter to
    work that takes seconds, so 0 is used, and at most the 20 ms that bound them on CPU lanes."""
    source: str
    """Where the peak rates come from."""
    efficiency_source: str
    """Where the two efficiencies come from: of generation, of training; what is assumed is called so."""

    def in_lane_of(self, num_gpus: int) -> "Accelerator":
        """The device of a lane of several such GPUs."""
        return self if num_gpus == 1 else replace(self, name=several(self.name, num_gpus), num_gpus=num_gpus)

    def with_fixed_share_at(self, end: RangeEnd) -> "Accelerator":
        """The device with the smallest or the largest share of a call's seconds that does not depend on the call's
        size. That share grows with the seconds of launching and messages, and with the speed of arithmetic."""
        ends = {name: getattr(self, name).at(end) for name in _FIELDS_OF_FIXED_SHARE}
        return replace(self, **ends)

    def with_efficiency_at(self, end: RangeEnd) -> "Accelerator":
        """The device as slow, or as fast, at arithmetic as the sources allow."""
        generation, training = self.generation_efficiency.at(end), self.training_efficiency.at(end)
        return replace(self, generation_efficiency=generation, training_efficiency=training)


_FIELDS_OF_FIXED_SHARE = ("layer_overhead_seconds", "call_seconds", "generation_efficiency", "training_efficiency")
"""The estimates that a call's fixed share depends on; it grows with each of them."""


def _gigabits(number: float) -> float:
    """Bytes per second of so many gigabits per second."""
    return number * 1e9 / 8


L40S = Accelerator(
    name="l40s",
    peak_flops=362.05e12,
    fp32_flops=91.6e12,
    memory_bytes=48.3 * GB,
    memory_bandwidth=864 * GB,
    host_bandwidth=25 * GB,
    network_bandwidth=_gigabits(200),
    link_bandwidth=25 * GB,
    generation_efficiency=Estimate(0.35, 0.28, 0.50),
    training_efficiency=Estimate(0.35, 0.26, 0.45),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    switch_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA L40S data sheet: 362.05 TFLOPS bf16 dense, 91.6 fp32, 48 GB GDDR6 (46,068 MiB), 864 GB/s, "
    "PCIe 4.0 x16, no NVLink",
    efficiency_source="Generation: 0.34, FLUX.1-dev at 512², 50 denoising steps in 8.71 s (Pruna's comparison of "
    "compilers, uncompiled). Training: assumed to be that of generation.",
)
H100 = Accelerator(
    name="h100",
    peak_flops=989.4e12,
    fp32_flops=66.9e12,
    memory_bytes=85.5 * GB,
    memory_bandwidth=3350 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(400),
    link_bandwidth=450 * GB,
    generation_efficiency=Estimate(0.35, 0.26, 0.50),
    training_efficiency=Estimate(0.35, 0.26, 0.45),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    switch_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA H100 SXM data sheet: 989.4 TFLOPS bf16 dense, 66.9 fp32, 80 GB HBM3 (81,559 MiB), 3.35 TB/s, "
    "PCIe 5.0 x16, NVLink 900 GB/s in both directions together",
    efficiency_source="Generation: 0.26, Qwen-Image at 512², 20 denoising steps in 2.4 s (verl-omni); 0.32, "
    "HunyuanVideo at 720×1280×129, 50 in 1904 s (its README, which does not name the card). Training: assumed to be "
    "that of generation; LoRA of language models reaches 0.41 to 0.43 with fused kernels (NeMo AutoModel, Llama 3 8B "
    "and Qwen2.5 7B on one card), where Tandem compiles blocks: 0.40 to 0.48 of FLUX.1 at best, by arithmetic (`make "
    "bench-roofline`).",
)
H200 = Accelerator(
    name="h200",
    peak_flops=989.4e12,
    fp32_flops=66.9e12,
    memory_bytes=150.7 * GB,
    memory_bandwidth=4800 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(400),
    link_bandwidth=450 * GB,
    generation_efficiency=Estimate(0.35, 0.26, 0.50),
    training_efficiency=Estimate(0.35, 0.26, 0.45),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    switch_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA H200 SXM data sheet: 989.4 TFLOPS bf16 dense, 66.9 fp32, 141 GB HBM3e (143,771 MiB), 4.8 TB/s, "
    "PCIe 5.0 x16, NVLink 900 GB/s in both directions together",
    efficiency_source="Generation: 0.35, Qwen-Image at 1024² with guidance in 20 s (verl-omni). Training: assumed to "
    "be that of generation.",
)
H20 = Accelerator(
    name="h20",
    peak_flops=148e12,
    fp32_flops=44e12,
    memory_bytes=102.6 * GB,
    memory_bandwidth=4000 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(200),
    link_bandwidth=450 * GB,
    generation_efficiency=Estimate(0.65, 0.50, 0.80),
    training_efficiency=Estimate(0.67, 0.45, 0.80),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 0.6e-3),
    switch_seconds=Estimate(0.5, 0.1, 2.0),
    source="NVIDIA H20: 148 TFLOPS bf16 dense, 44 fp32, 96 GB HBM3 (97,871 MiB), 4.0 TB/s, PCIe 5.0 x16, "
    "NVLink 900 GB/s in both directions together",
    efficiency_source="Generation: assumed, no published time was found; the L20, whose arithmetic is as small beside "
    "its bandwidth, reaches 0.70 (FLUX.1-dev at 1024², 28 denoising steps in 24.94 s, flux-faster). Training: 1.03 "
    "times generation, from 380 against 130 ms for a denoising step of Wan2.1-1.3B on H20s (UniRL), which is 2.9 "
    "times the seconds for 3.0 times the operations.",
)
CPU_CORE = Accelerator(
    name="cpu",
    peak_flops=100e9,
    fp32_flops=100e9,
    memory_bytes=8 * GB,
    memory_bandwidth=10 * GB,
    host_bandwidth=10 * GB,
    network_bandwidth=2 * GB,
    link_bandwidth=2 * GB,
    generation_efficiency=Estimate(0.41, 0.2, 0.6),
    training_efficiency=Estimate(0.35, 0.17, 0.5),
    layer_overhead_seconds=Estimate(1.3e-3, 0.8e-3, 2e-3),
    switch_seconds=Estimate(0.012, 0.0, 0.2),
    call_seconds=Estimate(7e-3, 2e-3, 20e-3),
    source="one core of a virtual AMD EPYC (family 26, 2.6 GHz), measured; see below",
    efficiency_source="Both measured; see below.",
)
"""Measured on 21 November 2026 with torch 2.13, one thread and the shapes model; bandwidths and memory are estimates.

* Peak: the fastest of square fp32 matrix products of 128 to 2048, 95 to 102 GFLOP/s.
* `OMP_NUM_THREADS=1 nice -n 5 python -m tests.bench.lane_costs`: a fragment takes 31.3 ms and 2.84 ms more for each
  trajectory, a micro-batch 10.6 ms and 0.92 ms more for each pair (processor time, medians of 15). By the operations of
  the shapes profile (nothing is recomputed at its size) that is 0.41 and 0.35 of the peak, and 1.3 ms per pass through
  one block in both.
* Calls and switches: `make bench-pipeline-real` on two such cores. Beside the work itself a commit takes 4 ms, a
  publish or a fragment 9 to 10 ms, a pull 15 ms; the two switches take 18 and 6 ms.
"""
HOST_SOCKET = Accelerator(
    name="host",
    peak_flops=115e12,
    fp32_flops=7.2e12,
    memory_bytes=256 * GB,
    memory_bandwidth=300 * GB,
    host_bandwidth=50 * GB,
    network_bandwidth=_gigabits(100),
    link_bandwidth=50 * GB,
    generation_efficiency=Estimate(0.20, 0.05, 0.40),
    training_efficiency=Estimate(0.20, 0.05, 0.40),
    layer_overhead_seconds=Estimate(0.2e-3, 0.0, 1e-3),
    switch_seconds=Estimate(0.02, 0.0, 0.2),
    source="Intel Xeon Platinum 8480+: 56 cores at 2.0 GHz with AMX, 1,024 bf16 operations a cycle and core, "
    "64 in fp32",
    efficiency_source="Both assumed: no published time of a scorer on such a socket was found.",
)

ACCELERATORS = {device.name: device for device in (L40S, H100, H200, H20, CPU_CORE, HOST_SOCKET)}
"""All devices by name."""
