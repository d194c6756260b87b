"""The precisions of a run. Only the frozen base may be in half precision: what decides about the policy (losses,
log-probs, LoRA and master weights) is computed in fp32.

Tests alone use float64, in which a different order of summation is told from a different sum.
"""

import torch

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
"""Torch's dtypes by the names that a spec gives them."""


def at_least_fp32(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` in fp32, or unchanged if it is float64."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
