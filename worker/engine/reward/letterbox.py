"""Whole pictures for networks that see squares: the longer side is fitted and the rest stays black."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def letterboxed(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """A picture (H, W, 3) as (side, side, 3): its longer side bicubically to `side`, black bars of equal width beside
    it, the odd line of pixels at the right or the bottom."""
    height, width = image.shape[:2]
    scale = side / max(height, width)
    new_height, new_width = round(height * scale), round(width * scale)
    fitted = Image.fromarray(image).resize((new_width, new_height), Image.Resampling.BICUBIC)
    square = np.zeros((side, side, 3), dtype=np.uint8)
    top, left = (side - new_height) // 2, (side - new_width) // 2
    square[top : top + new_height, left : left + new_width] = np.asarray(fitted)
    return square
