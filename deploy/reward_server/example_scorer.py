"""A scorer file for `server.py`: a function of all samples of a call, as networks want, and one of a single.

Pictures are arrays (H, W, 3), clips (F, H, W, 3), of uint8; those of one call have one shape. Raise any exception where
a sample cannot be scored: its text becomes that sample's error. `OSError` and its kind mean that another try may do
better. Where `score_batch` raises, the call's samples are scored one by one. Either function alone does, too.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def score_batch(samples: Sequence[NDArray[np.uint8]], prompts: Sequence[str], details: Sequence[Any]) -> list[float]:
    """How bright each sample is, 0 to 1; no prompt must be empty."""
    if not all(prompt.strip() for prompt in prompts):
        raise ValueError("a prompt is empty")
    batch = np.stack(samples)
    # Here a network would judge `batch` in one pass on its device.
    brightness = batch.mean(axis=tuple(range(1, batch.ndim))) / 255
    return [float(value) for value in brightness]


def score(sample: NDArray[np.uint8], prompt: str) -> float:
    """The same of one sample."""
    if not prompt.strip():
        raise ValueError("the prompt is empty")
    return float(sample.mean() / 255)
