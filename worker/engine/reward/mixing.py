"""Several rewards on one set of pictures: the weighted sum that is trained on, and every part kept beside it.

Watched rewards are scored and shown but never enter the sum. An error in a trained part makes the sum of that
sample an error; an error in a watched part stays in that part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from worker.contracts.sections import RewardSpec
from worker.engine.reward.base import Reward, RewardResult
from worker.engine.reward.frames import score_samples
from worker.engine.reward.registry import build_reward


@dataclass(frozen=True, slots=True)
class WeightedReward:
    """One scorer and its share in the sum; the weight of a watched one is not used."""

    reward: Reward
    weight: float = 1.0
    watched: bool = False


@dataclass(frozen=True, slots=True)
class MixedRewardResult:
    """The weighted sum and each part by reward name, watched ones included; all of the same N samples."""

    total: RewardResult
    parts: dict[str, RewardResult]


class MixedReward:
    """Scores with each of `parts` in turn.

    Raises:
        ValueError: when a name repeats or nothing is left to train on.
    """

    def __init__(self, parts: Sequence[WeightedReward]) -> None:
        names = [part.reward.name for part in parts]
        if len(set(names)) != len(names):
            raise ValueError(f"`parts` must name each reward once, got {', '.join(names)}")
        if all(part.watched for part in parts):
            raise ValueError("`parts` must hold at least one reward that is not watched: the sum would be empty")
        self._parts = tuple(parts)

    @classmethod
    def from_specs(cls, specs: Sequence[RewardSpec]) -> Self:
        """Build every scorer a run asks for."""
        return cls([WeightedReward(build_reward(spec.name), spec.weight, spec.watched) for spec in specs])

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> MixedRewardResult:
        """Score pictures (N, H, W, 3) or clips (N, F, H, W, 3). Raises `ValueError` on arrays that do not fit."""
        parts = {part.reward.name: score_samples(part.reward, images, prompts) for part in self._parts}
        total = np.zeros(len(prompts))
        errors: list[str | None] = [None] * len(prompts)
        for part in self._parts:
            if part.watched:
                continue
            result = parts[part.reward.name]
            for index, (score, error) in enumerate(zip(result.scores, result.errors, strict=True)):
                if score is None:
                    errors[index] = f"{part.reward.name}: {error}"
                else:
                    total[index] += part.weight * score
        return MixedRewardResult(RewardResult.from_array(total, errors), parts)
