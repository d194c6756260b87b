"""`pipeline.deterministic` on the device: kernels that give the same bits for the same inputs, or an error."""

import os

import torch

from worker.contracts.run_spec import RunSpec


def apply_determinism(spec: RunSpec) -> None:
    """For the whole process, before the device is first used: cuBLAS reads its variable only then."""
    if spec.pipeline.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
