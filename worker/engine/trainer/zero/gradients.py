"""The gradients between two optimizer steps: checked and clipped before a step, dropped without a trace by an abort.

The only place that reaches into DeepSpeed's engine: its own `zero_grad` leaves gradients behind in ZeRO 2, so that
an aborted mini-batch would leak into the next step.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from deepspeed.runtime.base_optimizer import ZeROOptimizer
from deepspeed.runtime.zero.stage3 import DeepSpeedZeroOptimizer_Stage3
from deepspeed.runtime.zero.stage_1_and_2 import INITIAL_MICRO_STEP_ID, DeepSpeedZeroOptimizer

from worker.engine.errors import NonFiniteError


def judge_norm_before_step(engine: Any) -> None:
    """Have DeepSpeed skip every step whose global gradient norm is not finite; to be called once, before the first.

    In bf16 its ZeRO 1 and 2 do so only where the configuration has a `bf16` section, which would also hand it the
    weights' precision (deepspeed 0.19, `DeepSpeedEngine._configure_zero_optimizer`). Stage 3 always does.
    """
    if isinstance(engine.optimizer, DeepSpeedZeroOptimizer):
        engine.optimizer.check_grad_overflow = True


def step_optimizer(engine: Any, parameters: Mapping[str, torch.nn.Parameter], max_grad_norm: float) -> float:
    """One clipped optimizer step over what was accumulated; returns the gradient norm before clipping.

    Entered by every rank.

    Raises:
        NonFiniteError: on every rank alike, with weights and optimizer untouched.
    """
    if isinstance(engine.optimizer, ZeROOptimizer):
        # DeepSpeed skips a step whose global norm is not finite.
        engine.step()
        if not engine.was_step_applied():
            raise NonFiniteError("gradient", "the global gradient norm", math.inf)
        return float(engine.get_global_grad_norm())
    engine.buffered_allreduce_fallback()
    norm = float(torch.nn.utils.clip_grad_norm_(list(parameters.values()), max_grad_norm))
    if not math.isfinite(norm):
        raise NonFiniteError("gradient", _first_non_finite(parameters), norm)
    engine.step()
    return norm


def drop_gradients(engine: Any, parameters: Mapping[str, torch.nn.Parameter]) -> None:
    """Forget everything accumulated since the last step; weights and optimizer state stay as they are."""
    optimizer = engine.optimizer
    if isinstance(optimizer, DeepSpeedZeroOptimizer_Stage3):
        _drop_cut_gradients(optimizer)
    elif isinstance(optimizer, ZeROOptimizer):
        optimizer.zero_grad(set_to_none=True)
        for kept in (optimizer.averaged_gradients, optimizer.all_grad_tensors):
            for group in list(kept):
                kept[group] = None
        for bucket in optimizer.ipg_buckets.values():
            bucket.clear()
        optimizer.micro_step_id = INITIAL_MICRO_STEP_ID
    for parameter in parameters.values():
        parameter.grad = None
    engine._unmanaged_backward_count = 0


def _drop_cut_gradients(optimizer: Any) -> None:
    """ZeRO 3 overwrites what it holds at the first backward after `zero_grad`, if nothing waits in a bucket."""
    optimizer.zero_grad(set_to_none=True)
    optimizer.averaged_gradients = {}
    for bucket in optimizer.ipg_buckets.values():
        bucket.clear_params()


def _first_non_finite(parameters: Mapping[str, torch.nn.Parameter]) -> str:
    for name, parameter in parameters.items():
        if parameter.grad is not None and not torch.isfinite(parameter.grad).all():
            return name
    return "the global gradient norm"
