"""What the machine can do at most: bf16 matrix products, copies between host and device, `/dev/shm`."""

import tempfile
from functools import partial
from pathlib import Path

import torch
from deepspeed.accelerator import get_accelerator

from tests.bench.engine_pairs import on_cpu
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.rates import bandwidth, compared, planned_device, timed
from tests.bench.gpu.stage_runner import GpuBench, Values

SHARED_MEMORY = Path("/dev/shm")
"""Where Ray's object store lies on Linux."""


def run(bench: GpuBench) -> None:
    products = [
        bench.measure(f"bf16 product of {size}³", partial(_product, bench, size)) for size in bench.shapes.product_sizes
    ]
    rates = [row["flops_per_second"] for row in products if "flops_per_second" in row]
    if rates:
        bench.report.document["fastest_product_flops_per_second"] = max(rates)
    bench.measure("copy within the device", partial(_within, bench))
    for is_pinned in (True, False):
        kind = "pinned" if is_pinned else "pageable"
        if is_pinned and on_cpu():
            bench.skip("host to device, pinned", "there is no device to pin memory for")
            continue
        bench.measure(f"host to device, {kind}", partial(_copy, bench, is_pinned, True))
        bench.measure(f"device to host, {kind}", partial(_copy, bench, is_pinned, False))
    bench.measure("write to /dev/shm", partial(_shared_memory, bench))


def _product(bench: GpuBench, size: int) -> Values:
    # Random values: products of zeros are faster than any real ones.
    left, right = (torch.randn(size, size, device=bench.device, dtype=torch.bfloat16) for _ in range(2))

    def ten() -> None:
        for _ in range(10):
            left @ right

    seconds = timed(bench, ten)["seconds"] / 10
    return {"seconds": seconds, "flops_per_second": 2 * size**3 / seconds}


def _within(bench: GpuBench) -> Row:
    """Counts the bytes read and written, as data sheets do."""
    source = torch.randn(bench.shapes.copy_bytes // 4, device=bench.device)
    target = torch.empty_like(source)
    values: Row = dict(bandwidth(bench, 2 * source.nbytes, lambda: target.copy_(source)))
    device = planned_device()
    values["compared"] = compared(
        "memory bandwidth",
        None if device is None else device.memory_bandwidth / 1e9,
        values["bytes_per_second"] / 1e9,
        "GB/s",
    )
    return values


def _copy(bench: GpuBench, is_pinned: bool, to_device: bool) -> Row:
    host = torch.ones(bench.shapes.copy_bytes // 4)
    if is_pinned:
        host = get_accelerator().pin_memory(host)
    device = torch.empty_like(host, device=bench.device)
    target, source = (device, host) if to_device else (host, device)
    values: Row = dict(bandwidth(bench, host.nbytes, lambda: target.copy_(source, non_blocking=is_pinned)))
    planned = planned_device()
    if is_pinned and planned is not None:
        values["compared"] = compared(
            f"{'host to device' if to_device else 'device to host'}, pinned",
            planned.host_bandwidth / 1e9,
            values["bytes_per_second"] / 1e9,
            "GB/s",
        )
    return values


def _shared_memory(bench: GpuBench) -> Row:
    if not SHARED_MEMORY.is_dir():
        raise FileNotFoundError(f"there is no {SHARED_MEMORY} on this machine")
    content = torch.ones(bench.shapes.copy_bytes, dtype=torch.uint8).numpy()
    with tempfile.NamedTemporaryFile(dir=SHARED_MEMORY) as file:

        def write() -> None:
            file.seek(0)
            file.write(content.data)
            file.flush()

        # Written once before it is timed: fresh pages cost more than the copy into them.
        return dict(bandwidth(bench, content.nbytes, write))
