"""LoRA layers that compute in the precision of the base, on fp32 weights that stay their own masters.

peft upcasts the input of each LoRA layer to the layer's fp32, and autocast brings both down again: on a bf16 base two
more passes over every activation, and an fp32 copy of it kept for the backward pass. Here the small matrices are cast
instead, by an operation that hands their gradients back in fp32.
"""

from typing import Any

import torch
from peft.tuners.lora import LoraLayer


class MasterWeightLinear(torch.nn.Linear):
    """A linear layer whose weight is cast to the dtype of its input, in which it computes."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(input, self.weight.to(input.dtype))


def compute_in_input_dtype(transformer: torch.nn.Module) -> None:
    """Make all LoRA layers of `transformer` compute in the dtype of their input; their parameters stay the same."""
    for module in transformer.modules():
        if isinstance(module, LoraLayer):
            module.cast_input_dtype_enabled = False
            for matrices in (module.lora_A, module.lora_B):
                for name, linear in matrices.items():
                    matrices[name] = _on_master_weight(linear)


def _on_master_weight(linear: Any) -> MasterWeightLinear:
    """`linear`, which has no bias, as a layer that casts its weight."""
    with torch.device("meta"):
        casting = MasterWeightLinear(linear.in_features, linear.out_features, bias=False)
    casting.weight = linear.weight
    return casting
