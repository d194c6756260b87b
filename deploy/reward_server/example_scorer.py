"""A scorer file for `server.py`: one function, called once for each sample.

Pictures are arrays (H, W, 3), clips (F, H, W, 3), of uint8. Raise any exception where a sample cannot be scored: its
text becomes that sample's error. `OSError` and its kind mean that another try may do better.
"""

import numpy as np
from numpy.typing import NDArray


def score(sample: NDArray[np.uint8], prompt: str) -> float:
    """How bright the sample is, 0 to 1; the prompt must not be empty."""
    if not prompt.strip():
        raise ValueError("the prompt is empty")
    return float(sample.mean() / 255)
