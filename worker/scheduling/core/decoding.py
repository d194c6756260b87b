"""How many samples of a fragment are decoded at once: enough to fill a device, few enough to fit beside the model.

Invariant: the number follows from the samples' own size, never from the lane. Kernels may round differently for another
batch size, so a fragment that is generated again elsewhere must be decoded in the same parts.
"""

import math

MAX_PIXELS_DECODED_TOGETHER = 2**20
"""Pixels of all frames of the samples decoded at once, unless a single sample has more: what one image of 1024 × 1024
takes, which every device that holds the model can decode."""


def num_decodings(num_samples: int, *, height: int, width: int, num_frames: int) -> int:
    """The number of parts that `num_samples` are decoded in; their sizes differ by one sample at most."""
    return math.ceil(num_samples / max(1, MAX_PIXELS_DECODED_TOGETHER // (height * width * num_frames)))
