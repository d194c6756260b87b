"""Scores samples with several rewards: the result of each, and the weighted sum of the trained ones.

Watched rewards are scored and reported but are no part of the sum. A sample that lacks the score of a trained reward
has an error in place of a sum, since a missing score must not count as zero; `worker.engine.advantage.mixed` decides
what such a sample is trained on, from the other members of its group. Rewards run in parallel, each in its own thread.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from worker.contracts.prompts import Prompt
from worker.contracts.rewards import RewardSpec
from worker.contracts.scorer_access import NO_ACCESS, ScorerAccess
from worker.engine.reward.base import RewardResult
from worker.engine.reward.registry import build_reward
from worker.engine.reward.reward_caller import CallOutcome, RewardCaller
from worker.engine.reward.scored_run import ScoredRun


@dataclass(frozen=True, slots=True)
class MixedRewardResult:
    """The scores of N samples by several rewards."""

    total: RewardResult
    """The weighted sum of the trained rewards."""
    parts: dict[str, RewardResult]
    """The result of each reward by its key, watched ones included."""
    num_retries: dict[str, int]
    """The number of repeated calls of each reward, by its key."""


class MixedReward:
    """Several rewards as one. Raises `ValueError` when a key repeats or every reward is only watched."""

    def __init__(self, callers: Sequence[RewardCaller]) -> None:
        keys = [caller.spec.key for caller in callers]
        if len(set(keys)) != len(keys):
            raise ValueError(f"`callers` must name each reward once, got {', '.join(keys)}")
        if all(caller.spec.watched for caller in callers):
            raise ValueError("`callers` must hold at least one reward that is not watched: the sum would be empty")
        self._callers = tuple(callers)
        self._threads = ThreadPoolExecutor(max_workers=len(self._callers), thread_name_prefix="rewards")

    @classmethod
    def from_specs(
        cls, specs: Sequence[RewardSpec], access: ScorerAccess = NO_ACCESS, run: ScoredRun | None = None
    ) -> Self:
        """Build the scorers of `specs`. Arguments and errors as in `build_reward`."""
        return cls([RewardCaller(spec, build_reward(spec, access, run)) for spec in specs])

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> MixedRewardResult:
        """Score pictures (N, H, W, 3) or clips (N, F, H, W, 3). Raises `ValueError` as `RewardCaller.score` does."""
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

    def _call_all(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> dict[RewardCaller, CallOutcome]:
        calls = {caller: self._threads.submit(caller.score, images, prompts) for caller in self._callers}
        return {caller: call.result() for caller, call in calls.items()}
