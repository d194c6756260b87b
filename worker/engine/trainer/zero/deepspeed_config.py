"""The DeepSpeed configuration of a run: a named file, the spec's overrides, and what Tandem decides itself.

The trainer rank accumulates gradients itself (`managed_gradient_accumulation: false`): groups arrive one at a time, and
only `commit` closes a mini-batch.
"""

import json
import logging
from pathlib import Path
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator

from worker.contracts.run_spec import RunSpec

FOLDER = Path(__file__).parent / "configurations"
"""The folder of the named configurations; beside this module, because a Ray job uploads the package `worker` alone."""
MIN_BUCKET_NUMEL = 1024
"""Elements of the smallest bucket: DeepSpeed refuses 0, the number of trainable elements while a model is loaded."""
MAX_BUCKET_NUMEL = 200_000_000
"""Elements of the largest bucket, 0.8 GB of fp32 gradients; DeepSpeed's default of 5e8 would take 2 GB."""

logging.getLogger("DeepSpeed").setLevel(logging.WARNING)


def deepspeed_config(spec: RunSpec, num_trainable: int) -> dict[str, Any]:
    """The configuration for `num_trainable` trainable elements over all ranks."""
    config: dict[str, Any] = json.loads((FOLDER / f"{spec.deepspeed.config.value}.json").read_text())
    # DeepSpeed allocates the bucket in every backward, so it is no larger than what is trained.
    bucket = min(max(num_trainable, MIN_BUCKET_NUMEL), MAX_BUCKET_NUMEL)
    config["zero_optimization"] |= {"reduce_bucket_size": bucket, "allgather_bucket_size": bucket}
    for path, value in spec.deepspeed.overriding.items():
        *sections, name = path.split(".")
        inner = config
        for section in sections:
            inner = inner[section]
        inner[name] = value
    _pin_only_for_a_device(config["zero_optimization"])
    return {
        **config,
        "train_micro_batch_size_per_gpu": spec.batch.micro_batch_size,
        "gradient_accumulation_steps": 1,
        "managed_gradient_accumulation": False,
        # In stage 0 DeepSpeed clips without reporting the norm, so `step_optimizer` clips there itself.
        "gradient_clipping": spec.optimizer.max_grad_norm if spec.deepspeed.zero_stage else 0.0,
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
        "timers": {"throughput": {"enabled": False}},
    }


def build_optimizer(spec: RunSpec, parameters: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
    """Torch's fused AdamW: DeepSpeed's CPU and fused Adams are compiled for over a minute on their first use."""
    settings = spec.optimizer
    return torch.optim.AdamW(
        parameters,
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
        weight_decay=settings.weight_decay,
        fused=True,
    )


def _pin_only_for_a_device(zero: dict[str, Any]) -> None:
    """Switch `pin_memory` off on a CPU: pinned memory only speeds up copies to an accelerator."""
    if get_accelerator().device_name() == "cpu":
        for part in ("offload_optimizer", "offload_param"):
            if part in zero:
                zero[part]["pin_memory"] = False
