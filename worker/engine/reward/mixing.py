"""Several rewards on one set of samples: every part, and the weighted sum of the trained ones.

Watched rewards are scored and shown but never enter the sum. A sample that lacks a trained part has no sum, only an
error: a part that is missing must not count as zero. What such a sample is trained on is decided where its siblings
are known (`worker.engine.advantage.mixed`). Rewards are called at the same time, each in its own thread.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from worker.contracts.rewards import RewardSpec
from worker.engine.reward.base import RewardResult
from worker.engine.reward.registry import build_reward
from worker.engine.reward.reward_caller import CallOutcome, RewardCaller


@dataclass(frozen=True, slots=True)
class MixedRewardResult:
    """The weighted sum, each part by its key, watched ones included, and the retries it took; all of N samples."""

    total: RewardResult
    parts: dict[str, RewardResult]
    num_retries: dict[str, int]


class MixedReward:
    """Raises `ValueError` when a key repeats or nothing is left to train on."""

    def __init__(self, callers: Sequence[RewardCaller]) -> None:
        keys = [caller.spec.key for caller in callers]
        if len(set(keys)) != len(keys):
            raise ValueError(f"`callers` must name each reward once, got {', '.join(keys)}")
        if all(caller.spec.watched for caller in callers):
            raise ValueError("`callers` must hold at least one reward that is not watched: the sum would be empty")
        self._callers = tuple(callers)
        self._threads = ThreadPoolExecutor(max_workers=len(self._callers), thread_name_prefix="rewards")

    @classmethod
    def from_specs(cls, specs: Sequence[RewardSpec], secrets: Mapping[str, str] | None = None) -> Self:
        """Build every scorer a run asks for; `secrets` are tokens by name. Raises as `build_reward`."""
        return cls([RewardCaller(spec, build_reward(spec, secrets or {})) for spec in specs])

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> MixedRewardResult:
        """Score pictures (N, H, W, 3) or clips (N, F, H, W, 3). Raises `ValueError` on arrays that do not fit."""
        outcomes = self._call_all(images, prompts)
        parts = {caller.spec.key: outcome.result for caller, outcome in outcomes.items()}
        total = np.zeros(len(prompts))
        errors: list[str | None] = [None] * len(prompts)
        for caller in self._callers:
            if caller.spec.watched:
                continue
            result = parts[caller.spec.key]
            for index, (score, error) in enumerate(zip(result.scores, result.errors, strict=True)):
                if score is None:
                    errors[index] = f"{caller.spec.key}: {error}"
                else:
                    total[index] += caller.spec.weight * score
        num_retries = {caller.spec.key: outcome.num_retries for caller, outcome in outcomes.items()}
        return MixedRewardResult(RewardResult.from_array(total, errors), parts, num_retries)

    def _call_all(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> dict[RewardCaller, CallOutcome]:
        calls = {caller: self._threads.submit(caller.score, images, prompts) for caller in self._callers}
        return {caller: call.result() for caller, call in calls.items()}
