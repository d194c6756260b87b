"""A scorer for the example server that does what the prompt says: how tests reach every kind of answer."""

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_calls: dict[str, int] = {}


def score(sample: NDArray[np.uint8], prompt: str) -> float:
    word, _, detail = prompt.partition(" ")
    _calls[prompt] = _calls.get(prompt, 0) + 1
    if word == "slow":
        time.sleep(float(detail))
    if word == "until":  # a file exists
        while not Path(detail).exists():
            time.sleep(0.01)
    if word == "broken":
        raise ValueError(detail)
    if word == "flaky" and _calls[prompt] == 1:
        raise ConnectionResetError("the camera was away")
    if word == "full" and _calls[prompt] == 1:
        raise MemoryError
    if word == "nan":
        return float("nan")
    return float(sample.mean()) + 1000 * (sample.ndim == 4)
