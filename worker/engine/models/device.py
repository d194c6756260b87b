"""The one place that chooses a device: deepspeed's accelerator interface, so that no device type is spelled out."""

import torch
from deepspeed.accelerator import get_accelerator


def resolve_device(device: str | torch.device | None) -> torch.device:
    """The device asked for, else the current one of the accelerator that is present (or the CPU)."""
    return torch.device(get_accelerator().current_device_name() if device is None else device)
