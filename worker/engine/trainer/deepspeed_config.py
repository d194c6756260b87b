"""The DeepSpeed configuration of a run, derived from its spec; ZeRO 0, 1 and 2.

Gradient accumulation is ours (`managed_gradient_accumulation: false`): groups arrive one at a time, and only `commit`
closes a mini-batch.
"""

import logging
from typing import Any

import torch

from worker.contracts.run_spec import RunSpec

MIN_BUCKET_NUMEL = 1024

logging.getLogger("DeepSpeed").setLevel(logging.WARNING)


def deepspeed_config(spec: RunSpec, num_trainable: int) -> dict[str, Any]:
    """The configuration for `num_trainable` LoRA elements (all fp32, their own master copy)."""
    stage = spec.deepspeed.zero_stage
    # One bucket that just fits: DeepSpeed allocates it at every backward, by default 2 GB of it.
    bucket = max(num_trainable, MIN_BUCKET_NUMEL)
    return {
        "train_micro_batch_size_per_gpu": spec.batch.micro_batch_size,
        "gradient_accumulation_steps": 1,
        "managed_gradient_accumulation": False,
        # In stage 0 DeepSpeed clips without reporting the norm, so the trainer clips there itself.
        "gradient_clipping": spec.optimizer.max_grad_norm if stage else 0.0,
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
        "zero_optimization": {
            "stage": stage,
            "contiguous_gradients": True,
            "overlap_comm": False,
            "reduce_scatter": True,
            "reduce_bucket_size": bucket,
            "allgather_bucket_size": bucket,
        },
        "wall_clock_breakdown": False,
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
