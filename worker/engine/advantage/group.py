"""Group-relative advantages, computed in the controller from scalar rewards alone.

Formula and epsilon: Flow-GRPO (arXiv 2505.05470), GRPO (arXiv 2402.03300).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worker.engine.errors import NonFiniteError

STD_EPSILON = 1e-4


@dataclass(frozen=True, slots=True)
class GroupAdvantages:
    """`advantages`: one per member, in order. `zero_std`: all rewards equal, so the group teaches nothing."""

    advantages: tuple[float, ...]
    zero_std: bool


def group_advantages(
    rewards: Sequence[float], *, clip: float, std: float | None = None, owner: str = "group"
) -> GroupAdvantages:
    """(reward - group mean) / (std + 1e-4), cut to ±`clip`.

    Args:
        rewards: of one complete group, at least 2.
        clip: bound on the absolute advantage.
        std: the spread to divide by; `None` takes the group's own (population) standard deviation.
        owner: whose rewards they are, for the error.

    Raises:
        NonFiniteError: naming the member whose reward is not finite, or for a spread that is not.
        ValueError: when the group is too small.
    """
    values = check_rewards(rewards, owner)
    if values.max() == values.min():
        # Rounding of the mean would otherwise be divided by the epsilon.
        return GroupAdvantages(advantages=(0.0,) * len(values), zero_std=True)
    spread = float(values.std()) if std is None else std
    if not math.isfinite(spread):
        raise NonFiniteError("spread of rewards", owner, spread)
    advantages = np.clip((values - values.mean()) / (spread + STD_EPSILON), -clip, clip)
    return GroupAdvantages(advantages=tuple(float(value) for value in advantages), zero_std=False)


def check_rewards(rewards: Sequence[float], owner: str) -> np.ndarray:
    """The rewards of one group as an array. Raises as `group_advantages`."""
    if len(rewards) < 2:
        raise ValueError(f"`rewards` must hold ≥ 2 values, got {len(rewards)}: advantages need siblings")
    for member, reward in enumerate(rewards):
        if not math.isfinite(reward):
            raise NonFiniteError("reward", f"{owner}, member {member}", reward)
    return np.asarray(rewards, dtype=np.float64)
