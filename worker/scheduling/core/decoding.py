"""How a fragment's samples are decoded: as many at once as fill a device, as few as fit beside the model.

Invariant: the number follows from the samples' own size, never from the lane. Kernels may round otherwise for another
batch, so a fragment that is drawn again elsewhere must be cut alike.
"""

import math

MAX_PIXELS_DECODED_TOGETHER = 2**20
"""Of all frames of all samples decoded at once, where one alone is not more: what a picture of 1024 × 1024 takes."""


def num_decodings(num_samples: int, *, height: int, width: int, num_frames: int) -> int:
    """How many parts `num_samples` are decoded in, each as large as the others or one sample less."""
    return math.ceil(num_samples / max(1, MAX_PIXELS_DECODED_TOGETHER // (height * width * num_frames)))
