"""What the optimizer is handed at a step: the reduced gradient, the same thing to look at in every ZeRO stage."""

from typing import Any

import torch

from worker.engine.trainer.rank import TrainerRank


class GradientRecorder:
    """`last` is this rank's flat gradient at the latest optimizer step: all of it in ZeRO 0, its part in 1, 2 and 3."""

    def __init__(self, trainer: TrainerRank) -> None:
        optimizer = trainer._deepspeed_engine.optimizer
        self.last = torch.empty(0)
        getattr(optimizer, "optimizer", optimizer).register_step_pre_hook(self._record)

    def _record(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        gradients = [parameter.grad for group in optimizer.param_groups for parameter in group["params"]]
        self.last = torch.cat([gradient.detach().flatten().clone() for gradient in gradients if gradient is not None])


def full_gradient(parts: list[torch.Tensor], stage: int, numels: list[int]) -> list[torch.Tensor]:
    """The flat gradient of all parameters (of `numels` elements, in order) from what each rank saw.

    In ZeRO 0 there are as many wholes as ranks; otherwise one.
    """
    total = sum(numels)
    if stage == 0:
        return [part[:total] for part in parts]
    if stage < 3:
        return [torch.cat(parts)[:total]]
    # Each parameter is cut by itself, and padded to be divisible.
    sizes = [-(-numel // len(parts)) for numel in numels]
    split = [part.split(sizes) for part in parts]
    return [torch.cat([torch.cat(pieces)[:numel] for *pieces, numel in zip(*split, numels, strict=True)])]


def relative_distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """Relative L2 distance, in float64."""
    return float((one.double() - other.double()).norm() / other.double().norm())
