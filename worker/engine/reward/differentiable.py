"""Differentiable rewards, computed on the trainer lanes for algorithms that use a reward's gradient (`refl`,
`reward_flow`).

Each gives the same score as the reward of its name, computed in torch. A test equates the registry with
`worker.contracts.algorithms.DIFFERENTIABLE_REWARDS`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from worker.contracts.names import RewardName
from worker.contracts.rewards import RewardSpec
from worker.engine.reward.shapes.shape_match_torch import TorchShapeMatch


class DifferentiableReward(Protocol):
    """A reward with a gradient with respect to the pictures."""

    def __call__(self, pictures: torch.Tensor, prompt: str) -> torch.Tensor:
        """Scores (N,) of pictures (N, 3, H, W) in [0, 1] that share a prompt.

        Raises:
            ValueError: for pictures or a prompt that the reward cannot score.
        """
        ...


DIFFERENTIABLE: dict[RewardName, Callable[[torch.device], DifferentiableReward]] = {
    RewardName.SHAPE_MATCH: TorchShapeMatch,
}
"""By name: how to make the reward on a device."""


class DifferentiableSum:
    """The weighted sum of the trained rewards."""

    def __init__(self, rewards: Sequence[RewardSpec], device: torch.device) -> None:
        self._parts = [(reward.weight, DIFFERENTIABLE[reward.name](device)) for reward in rewards]

    def __call__(self, pixels: torch.Tensor, prompt: str) -> torch.Tensor:
        """Scores (N,) of pictures (N, 3, H, W) in [0, 1], or of clips (N, F, 3, H, W) as the mean over their frames.
        Raises `ValueError` as the rewards do."""
        frames = pixels if pixels.ndim == 4 else pixels.flatten(0, 1)
        scores = torch.stack([weight * reward(frames, prompt) for weight, reward in self._parts]).sum(0)
        return scores.reshape(len(pixels), -1).mean(1)
