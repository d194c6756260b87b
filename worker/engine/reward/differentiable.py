"""Rewards that a gradient goes through: on the trainer lanes, for algorithms that follow it (`refl`, `reward_flow`).

Each is the same score as the reward of its name, computed in torch. A test equates the registry with
`worker.contracts.algorithms.DIFFERENTIABLE_REWARDS`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from worker.contracts.names import RewardName
from worker.contracts.rewards import RewardSpec
from worker.engine.reward.shapes.shape_match_torch import TorchShapeMatch


class DifferentiableReward(Protocol):
    def __call__(self, pictures: torch.Tensor, prompt: str) -> torch.Tensor:
        """Scores (N,) of pictures (N, 3, H, W) in [0, 1] that share a prompt.

        Raises:
            ValueError: for pictures or a prompt that the reward cannot judge.
        """
        ...


DIFFERENTIABLE: dict[RewardName, Callable[[torch.device], DifferentiableReward]] = {
    RewardName.SHAPE_MATCH: TorchShapeMatch,
}


class DifferentiableSum:
    """The weighted sum of the trained rewards."""

    def __init__(self, rewards: Sequence[RewardSpec], device: torch.device) -> None:
        self._parts = [(reward.weight, DIFFERENTIABLE[reward.name](device)) for reward in rewards]

    def __call__(self, pixels: torch.Tensor, prompt: str) -> torch.Tensor:
        """(N,) of pictures (N, 3, H, W), or of clips (N, F, 3, H, W): the mean over their frames. Raises as the
        rewards do."""
        frames = pixels if pixels.ndim == 4 else pixels.flatten(0, 1)
        scores = torch.stack([weight * reward(frames, prompt) for weight, reward in self._parts]).sum(0)
        return scores.reshape(len(pixels), -1).mean(1)
