"""From seconds to rates: MFU with its formula, the planner's expectation beside it, memory above what was held.

    MFU = floating-point operations of the model ÷ (seconds × peak of the device)          (`tests.bench.engine_mfu`)
    planned seconds of a forward = layers × launching + operations ÷ (peak × efficiency)   (`cost_estimates`)

Peaks are the makers' (`worker.scheduling.profiles.hardware`); for a card without a profile the fastest measured product
stands in, and the report says so. On a CPU no rate is reported: tiny shapes measure calls.
"""

import statistics
from collections.abc import Callable
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator

from tests.bench.engine_mfu import utilisation
from tests.bench.engine_pairs import in_turns, on_cpu
from tests.bench.gpu.stage_runner import GpuBench
from worker.contracts.device_names import known_profile
from worker.engine.devices.selection import device_kind, resolve_device
from worker.scheduling.profiles.hardware import ACCELERATORS, CPU_CORE, Accelerator
from worker.scheduling.profiles.model_profile import ModelProfile

Work = Callable[[], object]


def planned_device() -> Accelerator | None:
    """The planner's profile of this machine's device; `None` for a card without one."""
    if on_cpu():
        return CPU_CORE
    name = known_profile(device_kind(resolve_device(None)))
    return None if name is None else ACCELERATORS[name]


def peak_flops(bench: GpuBench) -> float | None:
    """Operations per second to which the MFU is relative; `None` on a CPU."""
    if on_cpu():
        return None
    known = planned_device()
    measured: float | None = bench.report.document.get("fastest_product_flops_per_second")
    return measured if known is None else known.peak_flops


def timed(bench: GpuBench, work: Work) -> dict[str, float]:
    """`seconds` of a call (the median of several), of the `first_call`, which compiles, and on a device the
    `added_bytes` that it takes at most beside what was held, and `reserve_bytes`."""
    first = in_turns(1, work, warm_up=0)[0]
    held = _reset_peak()
    seconds = in_turns(bench.shapes.repeats, work, warm_up=0)[0]
    found = {"seconds": _median(seconds.wall), "first_call_seconds": first.wall[0]}
    if held is not None:
        found["added_bytes"] = get_accelerator().max_memory_allocated() - held
    return found | reserve_bytes()


def reserve_bytes() -> dict[str, int]:
    """What the device lacks now beside all tensors of this process at their peak, which the plan's reserve stands for:
    its context, libraries' and collectives' buffers, segments that tensors do not fill. Nobody else uses the device.
    Nothing on a CPU."""
    if on_cpu():
        return {}
    free, total = torch.accelerator.get_memory_info()
    return {"reserve_bytes": total - free - get_accelerator().max_memory_allocated()}


def with_rate(bench: GpuBench, values: dict[str, Any], flops: float) -> dict[str, Any]:
    """`values` with the rate at which `flops` operations were done in its `seconds`, and the MFU."""
    peak = peak_flops(bench)
    if peak is None:
        return values
    seconds = values["seconds"]
    return {**values, "flops_per_second": flops / seconds, "mfu": utilisation(flops, seconds, peak)}


def compared(quantity: str, planned: float | None, measured: float | None, unit: str) -> list[dict[str, Any]]:
    """One line of the table of plan against measurement; none where either is not known."""
    if planned is None or measured is None:
        return []
    return [{"quantity": quantity, "planned": planned, "measured": measured, "unit": unit}]


def planned_forward_seconds(profile: ModelProfile, num_tokens: int, batch: int) -> float | None:
    """What the planner expects of one forward of `batch` samples."""
    device = planned_device()
    if device is None:
        return None
    arithmetic = batch * profile.forward_flops(num_tokens) / (device.peak_flops * device.generation_efficiency.value)
    return profile.num_layers * device.layer_overhead_seconds.value + arithmetic


def bandwidth(bench: GpuBench, num_bytes: float, work: Work) -> dict[str, float]:
    """Bytes per second of `work`, which moves `num_bytes`."""
    values = timed(bench, work)
    return {"seconds": values["seconds"], "bytes_per_second": num_bytes / values["seconds"]}


def _reset_peak() -> int | None:
    """The bytes held now, from which the peak is counted; `None` on a CPU."""
    if on_cpu():
        return None
    get_accelerator().reset_peak_memory_stats()
    return int(get_accelerator().memory_allocated())


def _median(values: tuple[float, ...]) -> float:
    return statistics.median(values)
