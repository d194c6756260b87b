"""`python -m worker.engine.devices.card_probe DEVICE`: measures a card without a hardware profile for two seconds, and
prints its `CardFigures` as JSON. A process of its own: it leaves nothing on the card, and may die with its driver."""

import sys
import time
from collections.abc import Callable
from typing import Any

from worker.contracts.node_reports import CardFigures
from worker.engine.devices.visibility import check_device, see_only

SECONDS_OF_EACH = 0.6
"""Products in bf16, in fp32 and copies: two seconds with their first, slower calls."""
SIZE = 8192
"""Rows and columns: the largest cards reach their full rate there, and three matrices take 0.8 GB in fp32."""
SIZE_ON_CPU = 256


def main(device: str) -> None:
    """Print the figures. Raises as `see_only` and `check_device`."""
    see_only(device)
    import torch

    from worker.engine.devices.selection import resolve_device

    check_device("the probe", device)
    print(measured(resolve_device(torch.device("cpu") if device == "cpu" else None)).model_dump_json())


def measured(device: Any) -> CardFigures:
    """The figures of a torch device."""
    import torch
    from deepspeed.accelerator import get_accelerator

    from worker.engine.devices.exact_products import exact_products

    size, synchronise = SIZE_ON_CPU if device.type == "cpu" else SIZE, get_accelerator().synchronize

    def rate(dtype: torch.dtype) -> float:
        left, right = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
        product = torch.empty_like(left)
        return 2 * size**3 / _fastest(lambda: torch.mm(left, right, out=product), synchronise)

    with exact_products(), torch.no_grad():
        bf16, fp32 = rate(torch.bfloat16), rate(torch.float32)
        source = torch.zeros(size, size, device=device)
        copy = torch.empty_like(source)
        seconds = _fastest(lambda: copy.copy_(source), synchronise)
    return CardFigures(
        num_processors=_num_processors(device),
        bf16_flops=bf16,
        fp32_flops=fp32,
        memory_bandwidth=2 * source.nbytes / seconds,
    )


def _fastest(call: Callable[[], Any], synchronise: Callable[[], Any]) -> float:
    """Seconds of the fastest call within `SECONDS_OF_EACH`, after one that is not counted."""
    call()
    synchronise()
    best, deadline = float("inf"), time.perf_counter() + SECONDS_OF_EACH
    while time.perf_counter() < deadline:
        began = time.perf_counter()
        call()
        synchronise()
        best = min(best, time.perf_counter() - began)
    return best


def _num_processors(device: Any) -> int:
    """1 where the vendor's library does not tell."""
    import torch

    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


if __name__ == "__main__":
    main(sys.argv[1])
