"""`clip_score`: CLIPScore (Hessel et al., arXiv 2104.08718): 2.5 · max(cos(picture, text), 0).

The text is "A photo depicts " and the prompt, as in the paper. Reference code: github.com/jmhessel/clipscore.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import ClipScoreSettings
from worker.engine.reward.base import RewardResult, check_batch
from worker.engine.reward.clip_similarity import ClipSimilarity
from worker.engine.reward.scored_run import ScoredRun

_PREFIX = "A photo depicts "
_SCALE = 2.5
"""The paper's factor, which brings cosines near the range from 0 to 1."""


class ClipScore:
    """The reward."""

    name = RewardName.CLIP_SCORE.value

    def __init__(self, settings: ClipScoreSettings, run: ScoredRun | None = None) -> None:
        """`run` is for the figures of its plan."""
        self._clip = ClipSimilarity(settings, settings.weights, self.name, run=run)

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 images (N, H, W, 3) of any size. Raises `ValueError` as `check_batch`."""
        check_batch(images, prompts)
        cosines = self._clip.cosines(images, [_PREFIX + prompt.text for prompt in prompts])
        return RewardResult.from_array(_SCALE * np.maximum(cosines, 0.0))
