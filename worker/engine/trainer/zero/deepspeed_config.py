"""The DeepSpeed configuration of a run: a named file, the spec's overrides, and what Tandem decides itself.

Gradient accumulation is ours (`managed_gradient_accumulation: false`): groups arrive one at a time, and only `commit`
closes a mini-batch.
"""

import json
import logging
from pathlib import Path
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator

from worker.contracts.run_spec import RunSpec

FOLDER = Path(__file__).parent / "configurations"
"""JSON files beside this module, because a job brings the package `worker` along and nothing else."""
MIN_BUCKET_NUMEL = 1024
MAX_BUCKET_NUMEL = 200_000_000

logging.getLogger("DeepSpeed").setLevel(logging.WARNING)


def deepspeed_config(spec: RunSpec, num_trainable: int) -> dict[str, Any]:
    """The configuration for `num_trainable` elements."""
    config: dict[str, Any] = json.loads((FOLDER / f"{spec.deepspeed.config.value}.json").read_text())
    # One bucket that just fits a LoRA: DeepSpeed allocates it at every backward, by default 2 GB of it.
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
        # In stage 0 DeepSpeed clips without reporting the norm, so the trainer clips there itself.
        "gradient_clipping": spec.optimizer.max_grad_norm if spec.deepspeed.zero_stage else 0.0,
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
        "timers": {"throughput": {"enabled": False}},
    }


def build_optimizer(spec: RunSpec, parameters: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
    """Torch's own AdamW, fused: DeepSpeed's CPU and fused Adams compile for over a minute where nothing is cached."""
    settings = spec.optimizer
    return torch.optim.AdamW(
        parameters,
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
        weight_decay=settings.weight_decay,
        fused=True,
    )


def _pin_only_for_a_device(zero: dict[str, Any]) -> None:
    """Pinned memory is for copies to an accelerator; without one there is none to pin for."""
    if get_accelerator().device_name() == "cpu":
        for part in ("offload_optimizer", "offload_param"):
            if part in zero:
                zero[part]["pin_memory"] = False
