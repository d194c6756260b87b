"""The gradient that the optimizer receives at a step, reduced over ranks, in a form that is the same in all ZeRO
stages."""

from typing import Any

import torch

from worker.engine.trainer.rank import TrainerRank


class GradientRecorder:
    """Records the gradients of a trainer rank's optimizer steps."""

    def __init__(self, trainer: TrainerRank) -> None:
        optimizer = trainer._deepspeed_engine.optimizer
        self.last = torch.empty(0)
        """This rank's flat gradient at the latest step: all of it in ZeRO 0, its partition in ZeRO 1, 2 and 3."""
        getattr(optimizer, "optimizer", optimizer).register_step_pre_hook(self._record)

    def _record(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        gradients = [parameter.grad for group in optimizer.param_groups for parameter in group["params"]]
        self.last = torch.cat([gradient.detach().flatten().clone() for gradient in gradients if gradient is not None])


def full_gradient(recorded: list[torch.Tensor], stage: int, numels: list[int]) -> list[torch.Tensor]:
    """The flat gradient of all parameters: in ZeRO 0 one per rank, in later stages one joined from all ranks.

    Args:
        recorded: `GradientRecorder.last` of each rank.
        stage: the ZeRO stage.
        numels: the number of elements of each parameter, in order.
    """
    total = sum(numels)
    if stage == 0:
        return [gradient[:total] for gradient in recorded]
    if stage < 3:
        return [torch.cat(recorded)[:total]]
    # ZeRO 3 shards each parameter by itself, and pads it so that it divides.
    sizes = [-(-numel // len(recorded)) for numel in numels]
    split = [gradient.split(sizes) for gradient in recorded]
    return [torch.cat([torch.cat(shards)[:numel] for *shards, numel in zip(*split, numels, strict=True)])]


def relative_distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """The L2 distance relative to the norm of `other`, in float64."""
    return float((one.double() - other.double()).norm() / other.double().norm())
