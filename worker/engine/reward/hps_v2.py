"""`hps_v2`: Human Preference Score v2 (Wu et al., arXiv 2306.09341): cos(picture, prompt).

The network is CLIP-H trained on HPD v2. As in the reference code (github.com/tgxs002/HPSv2, `hpsv2/img_score.py`) the
cosine is reported without the temperature, near 0.2 to 0.3, and pictures that are not square are letterboxed. The
published weights are open_clip's; `convert_hps_v2` converts them to a transformers CLIP with its processor.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import HpsV2Settings
from worker.engine.reward.base import RewardResult, check_batch
from worker.engine.reward.clip_similarity import ClipSimilarity
from worker.engine.reward.scored_run import ScoredRun


class HpsV2:
    """The reward."""

    name = RewardName.HPS_V2.value

    def __init__(self, settings: HpsV2Settings, run: ScoredRun | None = None) -> None:
        """`run` is for the figures of its plan."""
        self._clip = ClipSimilarity(settings, settings.weights, self.name, run=run, letterboxes=True)

    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 images (N, H, W, 3) of any size. Raises `ValueError` as `check_batch`."""
        check_batch(images, prompts)
        return RewardResult.from_array(self._clip.cosines(images, [prompt.text for prompt in prompts]))
