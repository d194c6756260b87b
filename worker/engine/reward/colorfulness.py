"""`colorfulness`: the measure of Hasler and Süsstrunk (SPIE 2003, "Measuring colourfulness in natural images").

M = sqrt(σ_rg² + σ_yb²) + 0.3·sqrt(μ_rg² + μ_yb²) with rg = R − G and yb = (R + G)/2 − B. The paper's scale calls
0 "not colourful" and 109 "extremely colourful"; the score is M / 109, clipped to 0..1.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.contracts.names import RewardName
from worker.engine.reward.base import RewardResult, check_batch

_EXTREMELY_COLOURFUL = 109.0
"""The value that the paper's scale calls "extremely colourful"."""


class Colorfulness:
    """The reward: vivid pictures score high. Prompts are ignored."""

    name = RewardName.COLORFULNESS.value

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
        """Score uint8 images (N, H, W, 3) of any size. Raises `ValueError` as `check_batch`."""
        check_batch(images, prompts)
        red, green, blue = np.moveaxis(images.astype(np.float32), 3, 0)
        red_green, yellow_blue = red - green, (red + green) / 2 - blue
        spread = np.hypot(red_green.std(axis=(1, 2)), yellow_blue.std(axis=(1, 2)))
        mean = np.hypot(red_green.mean(axis=(1, 2)), yellow_blue.mean(axis=(1, 2)))
        return RewardResult.from_array(np.clip((spread + 0.3 * mean) / _EXTREMELY_COLOURFUL, 0.0, 1.0))
