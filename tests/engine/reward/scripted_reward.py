"""Rewards whose answers tests write down."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.rewards import RewardSpec
from worker.engine.reward.base import RewardResult
from worker.engine.reward.reward_caller import RewardCaller

PICTURES = np.arange(3, dtype=np.uint8)[:, None, None, None] * np.ones((3, 4, 4, 3), dtype=np.uint8)
"""Three pictures that tell their place by their brightness."""
PROMPTS = ["a", "b", "c"]


class ScriptedReward:
    """Gives, call by call, what it was made with: scores (None fails), a result, or an exception to raise."""

    name = "scripted"

    def __init__(
        self, *answers: Sequence[float | None] | RewardResult | Exception | Callable[[], RewardResult]
    ) -> None:
        self._answers = list(answers)
        self.seen: list[tuple[list[int], list[str]]] = []
        """The pictures, by their brightness, and prompts of each call."""

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
        self.seen.append((images[:, 0, 0, 0].tolist(), list(prompts)))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, RewardResult):
            return answer
        if callable(answer):
            return answer()
        return RewardResult(tuple(answer), tuple("broken" if score is None else None for score in answer))


def spec(label: str = "a", **fields: Any) -> RewardSpec:
    return RewardSpec(name=RewardName.COLORFULNESS, label=label, **fields)


def caller(reward: ScriptedReward, label: str = "a", **fields: Any) -> RewardCaller:
    """With retries that wait for nothing."""
    return RewardCaller(spec(label, **fields), reward, sleep=lambda seconds: None)
