"""What the optimizer is handed at a step: the reduced gradient, the same thing to look at in every ZeRO stage."""

from typing import Any

import torch

from worker.engine.trainer.engine import TrainerEngine


class GradientRecorder:
    """`last` is this rank's flat gradient at the latest optimizer step: all of it in ZeRO 0, its partition in 1 and 2.

    Partitions of all ranks, laid end to end and cut to the number of trainable elements, are the whole.
    """

    def __init__(self, trainer: TrainerEngine) -> None:
        optimizer = trainer._engine.optimizer
        self.last = torch.empty(0)
        getattr(optimizer, "optimizer", optimizer).register_step_pre_hook(self._record)

    def _record(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        gradients = [parameter.grad for group in optimizer.param_groups for parameter in group["params"]]
        self.last = torch.cat([gradient.detach().flatten().clone() for gradient in gradients if gradient is not None])


def relative_distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """Relative L2 distance, in float64."""
    return float((one.double() - other.double()).norm() / other.double().norm())
