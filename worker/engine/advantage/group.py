"""Group-relative advantages, computed in the controller from scalar rewards alone.

`group`: a group is ready as soon as its own rewards are in. `batch`: the spread of the whole batch is shared, so all
rewards of the batch must be in. Formula and epsilon: Flow-GRPO (arXiv 2505.05470), GRPO (arXiv 2402.03300).
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


def group_advantages(rewards: Sequence[float], *, clip: float, std: float | None = None) -> GroupAdvantages:
    """(reward - group mean) / (std + 1e-4), cut to ±`clip`.

    Args:
        rewards: of one complete group, at least 2.
        clip: bound on the absolute advantage.
        std: the spread to divide by; `None` takes the group's own (population) standard deviation.

    Raises:
        NonFiniteError: naming the member whose reward is not finite.
        ValueError: when the group is too small.
    """
    values = _checked(rewards, "group")
    if values.max() == values.min():
        # Rounding of the mean would otherwise be divided by the epsilon.
        return GroupAdvantages(advantages=(0.0,) * len(values), zero_std=True)
    spread = float(values.std()) if std is None else std
    advantages = np.clip((values - values.mean()) / (spread + STD_EPSILON), -clip, clip)
    return GroupAdvantages(advantages=tuple(float(value) for value in advantages), zero_std=False)


def batch_advantages(groups: Sequence[Sequence[float]], *, clip: float) -> tuple[GroupAdvantages, ...]:
    """Advantages of all groups of a batch, each around its own mean, over the spread of all rewards together.

    Raises as `group_advantages`; the error names the group.
    """
    everything = np.concatenate([_checked(rewards, f"group {index}") for index, rewards in enumerate(groups)])
    spread = float(everything.std())
    return tuple(group_advantages(rewards, clip=clip, std=spread) for rewards in groups)


def _checked(rewards: Sequence[float], owner: str) -> np.ndarray:
    if len(rewards) < 2:
        raise ValueError(f"`rewards` must hold ≥ 2 values, got {len(rewards)}: advantages need siblings")
    for member, reward in enumerate(rewards):
        if not math.isfinite(reward):
            raise NonFiniteError("reward", f"{owner}, member {member}", reward)
    return np.asarray(rewards, dtype=np.float64)
