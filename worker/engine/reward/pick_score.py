"""`pick_score`: PickScore (Kirstain et al., arXiv 2305.01569): exp(logit_scale) · cos(picture, prompt).

The network is CLIP-H trained on choices between two pictures of one prompt; tokenizer and processor are those of the
CLIP-H it was trained from (model card of yuvalkirstain/PickScore_v1). Scores lie near 20.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import PickScoreSettings
from worker.engine.reward.base import RewardResult, check_batch
from worker.engine.reward.clip_similarity import ClipSimilarity
from worker.engine.reward.scored_run import ScoredRun


class PickScore:
    """The reward."""

    name = RewardName.PICK_SCORE.value

    def __init__(self, settings: PickScoreSettings, run: ScoredRun | None = None) -> None:
        """`run` is for the figures of its plan."""
        self._clip = ClipSimilarity(settings, settings.processor, self.name, run=run)

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 images (N, H, W, 3) of any size. Raises `ValueError` as `check_batch`."""
        check_batch(images, prompts)
        cosines = self._clip.cosines(images, [prompt.text for prompt in prompts])
        return RewardResult.from_array(self._clip.scale * cosines)
