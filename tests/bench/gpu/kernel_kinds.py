"""Where the seconds of a pass go, by kind of kernel: products, attention, normalisation, element-wise, copies.

Kernels are told apart by their names, which torch, its libraries and the compiler choose. What fits no kind is `other`,
so that nothing is lost silently.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from deepspeed.accelerator import get_accelerator
from torch.profiler import ProfilerActivity, profile

from tests.bench.engine_pairs import on_cpu

KINDS = {
    # Before products, since attention kernels are products too and some are named for both.
    "attention": r"flash|fmha|sdpa|attention|cudnn.*(sdpa|mha)",
    "products": r"gemm|nvjet|cutlass|xmma|cublas|matmul|addmm|aten::(mm|bmm|linear)|cijk_",
    "convolutions": r"conv|wgrad|dgrad|implicit",
    "fused by the compiler": r"^triton_",
    "normalisation": r"layer_?norm|rms_?norm|group_?norm|batch_?norm|softmax",
    "copies and casts": r"memcpy|memset|copy_|_to_copy|cat(array|batched)|direct_copy",
    "reductions": r"reduce|sum_|mean",
    "element-wise": r"elementwise|vectorized|unrolled|aten::(mul|add|silu|gelu|sub|div|neg|pow)",
}
"""Patterns of names by kind, the first that fits wins."""


def kind_of(name: str) -> str:
    """The kind of the kernel of that name."""
    return next((kind for kind, pattern in KINDS.items() if re.search(pattern, name, re.IGNORECASE)), "other")


def seconds_by_kind(work: Callable[[], object]) -> dict[str, Any]:
    """Device seconds of one call by kind, as `…_seconds`, and the number of `kernels`; on a CPU those of operators."""
    activities = [ProfilerActivity.CPU] if on_cpu() else [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    work()
    get_accelerator().synchronize()
    with profile(activities=activities) as profiled:
        work()
        get_accelerator().synchronize()
    seconds: defaultdict[str, float] = defaultdict(float)
    num_kernels = 0
    for event in profiled.key_averages():
        microseconds = event.self_cpu_time_total if on_cpu() else _on_device(event)
        if microseconds > 0:
            seconds[kind_of(event.key)] += microseconds / 1e6
            num_kernels += event.count
    by_size = sorted(seconds.items(), key=lambda item: -item[1])
    return {
        "kernels": num_kernels,
        "seconds": sum(seconds.values()),
        **{f"{kind.replace(' ', '_')}_seconds": value for kind, value in by_size},
    }


def _on_device(event: Any) -> float:
    """Microseconds of a kernel; 0 for a call on the host, whose kernels are events of their own."""
    return float(event.self_device_time_total) if event.device_type.name != "CPU" else 0.0
