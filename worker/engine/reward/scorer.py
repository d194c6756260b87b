"""A reward lane as a plain class: scores the pictures or clips of one fragment with all of the run's rewards."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.contracts.prompts import Prompt
from worker.contracts.rewards import RewardSpec
from worker.contracts.scorer_access import NO_ACCESS, ScorerAccess
from worker.engine.reward.mixing import MixedReward
from worker.engine.reward.scored_run import ScoredRun
from worker.engine.types import ScoredFragment
from worker.scheduling.core.messages import Fragment, Purpose


class Scorer:
    """Scores fragments."""

    def __init__(
        self, rewards: Sequence[RewardSpec], access: ScorerAccess = NO_ACCESS, run: ScoredRun | None = None
    ) -> None:
        """Build every scorer of the run.

        Args:
            rewards: the run's.
            access: for remote scorers.
            run: for the figures of its plan where a device has too little memory.

        Raises:
            Exception: as `build_reward` does.
        """
        self._required = [spec.key for spec in rewards if not spec.may_be_missing]
        self._mixed = MixedReward.from_specs(rewards, access, run)

    def score(self, fragment: Fragment, prompt: Prompt, images: NDArray[np.uint8]) -> ScoredFragment:
        """Score the pictures (N, H, W, 3) or clips (N, F, H, W, 3) of one fragment.

        Requested samples may have prompts that a reward cannot score, and nothing is trained on them, so they may lack
        required rewards.

        Raises:
            RewardError: when a required reward failed on a sample of training or evaluation.
            DeviceMemoryError: when a required reward has no memory even for one picture.
        """
        result = self._mixed.score(images, [prompt] * len(images))
        if fragment.key.purpose is not Purpose.REQUEST:
            for key in self._required:
                result.parts[key].require_complete(key)
        return ScoredFragment(
            fragment=fragment,
            rewards=tuple(0.0 if score is None else score for score in result.total.scores),
            parts={key: part.scores for key, part in result.parts.items()},
            errors={key: part.errors for key, part in result.parts.items() if any(part.errors)},
            unrewarded=frozenset(index for index, score in enumerate(result.total.scores) if score is None),
            num_retries=result.num_retries,
        )
