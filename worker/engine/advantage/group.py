"""Group-relative advantages, computed in the controller from scalar rewards alone.

Formula and epsilon: Flow-GRPO (arXiv 2505.05470), GRPO (arXiv 2402.03300).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worker.engine.errors import NonFiniteError

STD_EPSILON = 1e-4
"""Added to the standard deviation before dividing, as in Flow-GRPO."""

SPREAD_TOLERANCE = 1e-6
"""Rewards that differ by at most this share of the largest of them count as equal: about eight units of float32's
rounding (2^-23), in which scorers compute. Such a difference depends on the batch that a scorer ran, not on the
sample, and is far below what `STD_EPSILON` lets through unless rewards are in the hundreds."""


@dataclass(frozen=True, slots=True)
class GroupAdvantages:
    """The advantages of one group."""

    advantages: tuple[float, ...]
    """One per member, in order."""
    zero_std: bool
    """Whether the group is without spread: what its advantages are made of is equal for all members, within
    `SPREAD_TOLERANCE`, so that every advantage is 0."""


def group_advantages(
    rewards: Sequence[float], *, clip: float, std: float | None = None, owner: str = "group"
) -> GroupAdvantages:
    """(reward - group mean) / (std + 1e-4), clipped to ±`clip`.

    Args:
        rewards: the rewards of one complete group, at least 2.
        clip: bound on the absolute advantage.
        std: the standard deviation to divide by; `None` takes the group's own (of the population).
        owner: a name of the group, for error messages.

    Raises:
        NonFiniteError: for a reward that is not finite, naming its member, or for a standard deviation that is not.
        ValueError: when the group has fewer than 2 members.
    """
    values = check_rewards(rewards, owner)
    if not differ(values):
        # The mean's rounding error would otherwise be divided by the epsilon.
        return no_advantages(len(values))
    deviation = float(values.std()) if std is None else std
    if not math.isfinite(deviation):
        raise NonFiniteError("standard deviation of rewards", owner, deviation)
    advantages = np.clip((values - values.mean()) / (deviation + STD_EPSILON), -clip, clip)
    return GroupAdvantages(advantages=tuple(float(value) for value in advantages), zero_std=False)


def differ(values: np.ndarray) -> bool:
    """Whether some of `values` (N,) differ by more than `SPREAD_TOLERANCE` of the largest absolute one."""
    return not values.max() - values.min() <= SPREAD_TOLERANCE * np.abs(values).max()


def no_advantages(num_members: int) -> GroupAdvantages:
    """The advantages of a group without spread."""
    return GroupAdvantages(advantages=(0.0,) * num_members, zero_std=True)


def check_rewards(rewards: Sequence[float], owner: str) -> np.ndarray:
    """The rewards of one group as an array, (members,). Raises as `group_advantages`."""
    if len(rewards) < 2:
        raise ValueError(f"`rewards` must hold ≥ 2 values, got {len(rewards)}: advantages need siblings")
    for member, reward in enumerate(rewards):
        if not math.isfinite(reward):
            raise NonFiniteError("reward", f"{owner}, member {member}", reward)
    return np.asarray(rewards, dtype=np.float64)
