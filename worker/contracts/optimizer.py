"""The `optimizer` and `ema` sections of a `RunSpec`: how the trained weights are updated, and their average."""

from typing import Annotated

from pydantic import Field

from worker.contracts.base import Contract
from worker.contracts.spec_bounds import MAX_GRAD_NORM, Coefficient, OptimizerStepCount


class OptimizerSpec(Contract):
    """AdamW with a constant learning rate; its state is fp32."""

    learning_rate: Annotated[float, Field(gt=0, le=1)] = 3e-4
    """Learning rate of AdamW, constant over the run. Usual: 1e-4 to 3e-4 for LoRA (Flow-GRPO), 1e-5 for all weights
    (DanceGRPO, MixGRPO). Lower it when the reward falls again after a rise, or when most ratios are clipped."""
    beta1: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """Decay of AdamW's first moment (the mean of the gradient). 0.9 is PyTorch's default and that of the published
    recipes; there is rarely a reason to change it."""
    beta2: Annotated[float, Field(ge=0, lt=1)] = 0.999
    """Decay of AdamW's second moment (the mean of the squared gradient). 0.999 is PyTorch's default and that of the
    published recipes; 0.95 adapts faster where the gradient's scale changes much."""
    weight_decay: Coefficient = 1e-4
    """Decoupled weight decay of AdamW: each optimizer step shrinks the trained weights by `learning_rate` × this. 1e-4
    is Flow-GRPO's. It hardly matters in runs of a few hundred steps; 0 turns it off."""
    max_grad_norm: Annotated[float, Field(gt=0, le=MAX_GRAD_NORM)] = 1.0
    """Largest L2 norm of the gradient in one optimizer step; a larger gradient is scaled down to it. 1 is usual. Lower
    it when spikes of the gradient norm are followed by a fall of the reward; 1e9 never clips."""


class EmaSpec(Contract):
    """An exponential moving average (EMA) of the trained weights. Evaluation, requested samples and the exported
    weights use the average; training samples come from the policy itself."""

    decay: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of itself that the average keeps at each update, from 0 to below 1; 0 keeps no average. Flow-GRPO uses 0.9
    with an update every 8 optimizer steps. Use it where evaluation jumps from batch to batch; it costs one more copy of
    the trained weights."""
    every_num_optimizer_steps: OptimizerStepCount = 8
    """Optimizer steps between two updates of the average. 8 is Flow-GRPO's. Fewer steps, or a smaller decay, make the
    average follow the policy more closely."""
