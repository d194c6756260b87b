"""The device that a process computes on, and whether it repeats itself there.

DeepSpeed's accelerator interface chooses, so that no device type is spelled out.
"""

import os

import torch
from deepspeed.accelerator import get_accelerator

from worker.contracts.run_spec import RunSpec


def resolve_device(device: str | torch.device | None) -> torch.device:
    """The device asked for, else the current one of the accelerator that is present (or the CPU)."""
    return torch.device(get_accelerator().current_device_name() if device is None else device)


def apply_determinism(spec: RunSpec) -> None:
    """Have `pipeline.deterministic` hold: kernels that give the same bits for the same inputs, or an error.

    For the whole process, before the device is first used: cuBLAS reads its variable only then.
    """
    if spec.pipeline.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
