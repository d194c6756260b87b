"""A scorer with two answers, about equally frequent: many small groups get the same one for all members."""

import numpy as np
from numpy.typing import NDArray


def score(sample: NDArray[np.uint8], prompt: str) -> float:
    """1 where the sample's brightness, in eighths of a level, is odd, else 0."""
    return float(int(sample.mean() * 8) % 2)
