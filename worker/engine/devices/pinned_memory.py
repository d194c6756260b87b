"""Host memory that an accelerator copies to and from directly, without a pageable detour."""

import torch
from deepspeed.accelerator import get_accelerator


def host_buffer(num_bytes: int) -> torch.Tensor:
    """(num_bytes,) uint8, pinned where there is an accelerator. Pinning one takes longer than filling it: reuse it."""
    buffer = torch.empty(num_bytes, dtype=torch.uint8)
    is_cpu = get_accelerator().device_name() == "cpu"
    pinned: torch.Tensor = buffer if is_cpu else get_accelerator().pin_memory(buffer)
    return pinned
