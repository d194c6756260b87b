"""A reward whose answers are given by the test."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import RewardSpec
from worker.engine.reward.base import Reward, RewardResult
from worker.engine.reward.reward_caller import RewardCaller

PICTURES = np.arange(3, dtype=np.uint8)[:, None, None, None] * np.ones((3, 4, 4, 3), dtype=np.uint8)
"""Three pictures, whose brightness is their index."""
PROMPTS = ["a", "b", "c"]


class ScriptedReward:
    """Answers its calls with the given answers in order, repeating the last: scores (`None` fails), a result, a
    function that returns one, or an exception to raise."""

    name = "scripted"

    def __init__(
        self, *answers: Sequence[float | None] | RewardResult | Exception | Callable[[], RewardResult]
    ) -> None:
        self._answers = list(answers)
        self.calls: list[tuple[list[int], list[str]]] = []
        """The indices of the pictures and the prompts of each call."""

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        self.calls.append((images[:, 0, 0, 0].tolist(), [prompt.text for prompt in prompts]))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, RewardResult):
            return answer
        if callable(answer):
            return answer()
        return RewardResult(tuple(answer), tuple("broken" if score is None else None for score in answer))


def spec(label: str = "a", **fields: Any) -> RewardSpec:
    """A spec with the key `label`."""
    return RewardSpec(name=RewardName.COLORFULNESS, label=label, **fields)


def caller(reward: Reward, label: str = "a", **fields: Any) -> RewardCaller:
    """A caller whose retries follow at once."""
    return RewardCaller(spec(label, **fields), reward, sleep=lambda seconds: None)
