"""The trainable parameters of a transformer: LoRA layers on a frozen base, or its own weights.

Invariant: training, publishing, binding, checkpoints and export all use `trainable_parameters`, so they agree on the
tensors and their names.
"""

import copy
from itertools import chain
from typing import Any

import torch

from worker.contracts.names import Tuning
from worker.engine.models.lora import lora_parameters


def unfreeze(transformer: torch.nn.Module, dtype: torch.dtype) -> None:
    """Make all weights in `dtype`, the model's, trainable.

    Weights that a family keeps in fp32 over a base in half precision (Wan's time embedder, norms and tables: 0.2 % of
    its weights) stay frozen, because ZeRO 3 needs trainable weights of a single dtype.
    """
    for parameter in transformer.parameters():
        parameter.requires_grad_(parameter.dtype is dtype)


def trainable_parameters(
    transformer: torch.nn.Module, tuning: Tuning, dtype: torch.dtype
) -> dict[str, torch.nn.Parameter]:
    """The parameters that `tuning` trains, or a frozen copy's counterparts of them, in name order.

    Names are peft's for LoRA (`…to_q.lora_A.weight`), otherwise the module tree's.
    """
    if tuning is Tuning.LORA:
        return lora_parameters(transformer)
    found = {name: parameter for name, parameter in transformer.named_parameters() if parameter.dtype is dtype}
    return dict(sorted(found.items()))


def copy_with_shared_base(transformer: torch.nn.Module, trainable: dict[str, torch.nn.Parameter]) -> torch.nn.Module:
    """A second module tree with frozen copies of the `trainable` parameters, which shares all other tensors.

    It must be made before anything attaches hooks to the parameters.
    """
    own = {id(parameter) for parameter in trainable.values()}
    tensors = chain(transformer.parameters(), transformer.buffers())
    # `deepcopy` takes what is in the memo instead of copying it.
    shared: dict[int, Any] = {id(tensor): tensor for tensor in tensors if id(tensor) not in own}
    copied = copy.deepcopy(transformer, shared)
    for parameter in copied.parameters():
        if id(parameter) not in shared:
            parameter.requires_grad_(False)
    return copied
