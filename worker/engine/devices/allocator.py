"""How torch's allocators take memory of an accelerator and of its host; set before torch is imported, which reads it
once.

Segments of the device's memory grow instead of being given up for larger ones, which leaves about a twentieth of it
unusable where shapes change (the memory plan's reserve). Pinned buffers would be rounded up to powers of two: offloaded
optimizer state of 70 GB would take 128.
"""

import os
from importlib.metadata import version

VARIABLE = "PYTORCH_ALLOC_CONF"
OLDER_VARIABLES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NPU_ALLOC_CONF")
"""What VARIABLE was called before, for one vendor each; two at once are an error of Ascend's torch."""
SEGMENTS = "expandable_segments:True"
PINNED = "pinned_max_round_threshold_mb:1"
"""Pinned buffers over 1 MB take what they need (`CachingHostAllocator.h` of torch 2.13)."""
_PINNED_SINCE = (2, 13)
"""The torch whose headers have the setting; an older one may refuse it."""


def set_allocator() -> None:
    """Set the allocators up, unless whoever runs the node did."""
    if any(name in os.environ for name in (VARIABLE, *OLDER_VARIABLES)):
        return
    found = tuple(int(part) for part in version("torch").split(".")[:2])
    os.environ[VARIABLE] = ",".join([SEGMENTS, PINNED] if found >= _PINNED_SINCE else [SEGMENTS])
