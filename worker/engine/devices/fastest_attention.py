"""The attention kernel that is fastest on a card."""

import torch

from worker.contracts.performance import AttentionBackend

_HOPPER = 9
"""The major version of Hopper's compute capability."""


def fastest_attention(device: torch.device) -> AttentionBackend:
    """cuDNN's on Hopper, where it is 1.7 to 2.3 times as fast as FlashAttention-2 and elsewhere slower
    (transformers#48163); what PyTorch chooses on other devices."""
    is_nvidia = device.type == "cuda" and not torch.version.hip
    if is_nvidia and torch.cuda.get_device_capability(device)[0] == _HOPPER:
        return AttentionBackend.CUDNN
    return AttentionBackend.DEFAULT
