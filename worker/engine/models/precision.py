"""Half precision is for the frozen base alone: what decides about the policy is computed in fp32, or better if asked.

Nothing asks for float64 but proofs, in which it tells a different order of summing from a different sum.
"""

import torch


def at_least_fp32(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` in fp32, or in float64 where it comes in that."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
