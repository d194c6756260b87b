"""`jpeg_compressibility`: the size of the picture as a JPEG (DDPO, arXiv 2305.13301), scaled to 0..1.

The score falls linearly with the logarithm of the bits per pixel, so it does not depend on resolution: 1 at
`_BEST_BITS_PER_PIXEL` (flat colour) and below, 0 at `_WORST_BITS_PER_PIXEL` (noise) and above.
"""

import io
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from worker.contracts.names import RewardName
from worker.engine.reward.base import RewardResult, check_batch

_QUALITY = 95
"""JPEG's quality, as in DDPO."""
_BEST_BITS_PER_PIXEL = 0.2
"""About the bits of a picture of one colour."""
_WORST_BITS_PER_PIXEL = 12.0
"""About the bits of uniform noise."""


class JpegCompressibility:
    """The reward: smooth pictures score high. Prompts are ignored."""

    name = RewardName.JPEG_COMPRESSIBILITY.value

    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
        """Score uint8 images (N, H, W, 3) of any size. Raises `ValueError` as `check_batch`."""
        check_batch(images, prompts)
        # Headers and tables do not depend on the picture, and at 32x32 they are larger than its content.
        overhead = _num_bytes(np.zeros((8, 8, 3), dtype=np.uint8))
        bits_per_pixel = [
            8 * max(_num_bytes(image) - overhead, 1) / (image.shape[0] * image.shape[1]) for image in images
        ]
        return RewardResult.from_array(np.array([_score(bits) for bits in bits_per_pixel]))


def _num_bytes(image: NDArray[np.uint8]) -> int:
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, format="JPEG", quality=_QUALITY, subsampling=0)
    return buffer.tell()


def _score(bits_per_pixel: float) -> float:
    span = math.log(_WORST_BITS_PER_PIXEL / _BEST_BITS_PER_PIXEL)
    return min(max(math.log(_WORST_BITS_PER_PIXEL / bits_per_pixel) / span, 0.0), 1.0)
