"""The device that a process computes on, and whether its kernels are deterministic.

DeepSpeed's accelerator interface chooses the device, so that no device type is named outside this package.
"""

import os

import torch
from deepspeed.accelerator import get_accelerator

from worker.contracts.run_spec import RunSpec


def resolve_device(device: str | torch.device | None) -> torch.device:
    """`device`, or by default the current device of the accelerator that is present, else the CPU."""
    return torch.device(get_accelerator().current_device_name() if device is None else device)


def device_kind(device: torch.device) -> str:
    """The name of the model of `device`, which decides the bits that it computes; that of the CPU is `cpu`."""
    if device.type == "cpu":
        return device.type
    return str(torch.get_device_module(device).get_device_name(device))


def group_device() -> torch.device | None:
    """The device that a process group is bound to when it is made, so that its communicator forms at once and no
    barrier has to guess; `None` where the group's backend takes none."""
    is_bound = get_accelerator().communication_backend_name() == "nccl"
    return resolve_device(None) if is_bound else None


def apply_determinism(spec: RunSpec) -> None:
    """Apply `pipeline.deterministic` to this process: same inputs give the same bits, or torch raises `RuntimeError`.

    Called before the device is first used, which is when cuBLAS reads its environment variable.
    """
    if spec.pipeline.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
