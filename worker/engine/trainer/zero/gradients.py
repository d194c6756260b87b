"""The gradients between two optimizer steps: checked and clipped before a step, dropped without a trace by an abort.

It writes to private state of DeepSpeed's engine and optimizers, as only `optimizer_state` does besides: their own
`zero_grad` leaves gradients behind in ZeRO 2, so that an aborted mini-batch would leak into the next step.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from deepspeed.runtime.base_optimizer import ZeROOptimizer
from deepspeed.runtime.zero.stage3 import DeepSpeedZeroOptimizer_Stage3
from deepspeed.runtime.zero.stage_1_and_2 import INITIAL_MICRO_STEP_ID, DeepSpeedZeroOptimizer

from worker.engine.errors import NonFiniteError


def check_norm_before_step(deepspeed_engine: Any) -> None:
    """Make DeepSpeed skip every step whose global gradient norm is not finite; called once, before the first step.

    In bf16 its ZeRO 1 and 2 do so only where the configuration has a `bf16` section, which would also hand it the
    weights' precision (deepspeed 0.19, `DeepSpeedEngine._configure_zero_optimizer`). Stage 3 always does.
    """
    if isinstance(deepspeed_engine.optimizer, DeepSpeedZeroOptimizer):
        deepspeed_engine.optimizer.check_grad_overflow = True


def fill_missing_gradients(deepspeed_engine: Any, parameters: Mapping[str, torch.nn.Parameter]) -> None:
    """Give every parameter without a gradient one of zeros, by a backward pass of weight 0 that needs no data.

    In ZeRO 0 and 1 ranks accumulate by themselves, so a rank may have taken no micro-batch, or none that reaches some
    parameters. All ranks must reduce the same gradients, or the collectives inside the step do not match.
    """
    optimizer = deepspeed_engine.optimizer
    kept = optimizer.get_gradient_for_reduction if isinstance(optimizer, ZeROOptimizer) else lambda each: each.grad
    missing = [parameter for parameter in parameters.values() if kept(parameter) is None]
    if missing:
        zero = torch.stack([(parameter * 0).sum().float() for parameter in missing]).sum()
        deepspeed_engine.backward(zero, scale_wrt_gas=False)


def step_optimizer(deepspeed_engine: Any, parameters: Mapping[str, torch.nn.Parameter], max_grad_norm: float) -> float:
    """Take one clipped optimizer step over the accumulated gradients; a collective.

    Args:
        deepspeed_engine: which wraps the policy.
        parameters: the trainable parameters by name.
        max_grad_norm: L2 norm that larger gradients are scaled down to, in stage 0; later stages have it configured.

    Returns:
        The gradients' L2 norm before clipping.

    Raises:
        NonFiniteError: on every rank, for a norm that is not finite; weights and optimizer are unchanged.
    """
    if isinstance(deepspeed_engine.optimizer, ZeROOptimizer):
        # DeepSpeed skips a step whose global norm is not finite.
        deepspeed_engine.step()
        if not deepspeed_engine.was_step_applied():
            raise NonFiniteError("gradient", "the global gradient norm", math.inf)
        return float(deepspeed_engine.get_global_grad_norm())
    deepspeed_engine.buffered_allreduce_fallback()
    norm = float(torch.nn.utils.clip_grad_norm_(list(parameters.values()), max_grad_norm))
    if not math.isfinite(norm):
        raise NonFiniteError("gradient", _first_non_finite(parameters), norm)
    deepspeed_engine.step()
    return norm


def drop_gradients(deepspeed_engine: Any, parameters: Mapping[str, torch.nn.Parameter]) -> None:
    """Drop all gradients accumulated since the last step; weights and optimizer state are unchanged."""
    optimizer = deepspeed_engine.optimizer
    if isinstance(optimizer, DeepSpeedZeroOptimizer_Stage3):
        _drop_sharded_gradients(optimizer)
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
    deepspeed_engine._unmanaged_backward_count = 0


def _drop_sharded_gradients(optimizer: Any) -> None:
    """In ZeRO 3 the first backward after `zero_grad` overwrites kept gradients, provided that the buckets are empty."""
    optimizer.zero_grad(set_to_none=True)
    optimizer.averaged_gradients = {}
    for bucket in optimizer.ipg_buckets.values():
        bucket.clear_params()


def _first_non_finite(parameters: Mapping[str, torch.nn.Parameter]) -> str:
    """The name of the first parameter whose gradient is not finite; their sum of squares may overflow without one."""
    for name, parameter in parameters.items():
        if parameter.grad is not None and not torch.isfinite(parameter.grad).all():
            return name
    return "the global gradient norm"
