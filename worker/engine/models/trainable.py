"""What of a transformer is trained, by name: LoRA layers on a frozen base, or its own weights.

Everything that trains, publishes, binds, checkpoints or exports asks `trained_parameters`, so all of them mean the same
tensors under the same names. A second policy beside the trained one is a twin: the same module tree over the same
frozen storage, with trained tensors of its own.
"""

import copy
from itertools import chain
from typing import Any

import torch

from worker.contracts.names import Tuning
from worker.engine.models.lora import lora_parameters


def unfreeze(transformer: torch.nn.Module, dtype: torch.dtype) -> None:
    """Let all weights train that are held in `dtype`, the model's.

    The few that a family keeps in fp32 over a base of half precision (Wan's time embedder, norms and tables: 0.2 % of
    it) stay frozen: ZeRO 3 lays what it trains into buffers of one dtype.
    """
    for parameter in transformer.parameters():
        parameter.requires_grad_(parameter.dtype is dtype)


def trained_parameters(
    transformer: torch.nn.Module, tuning: Tuning, dtype: torch.dtype
) -> dict[str, torch.nn.Parameter]:
    """The live parameters that are trained, or frozen copies of them in a twin, in name order.

    Named as peft does it (`…to_q.lora_A.weight`), or as the module tree does.
    """
    if tuning is Tuning.LORA:
        return lora_parameters(transformer)
    found = {name: parameter for name, parameter in transformer.named_parameters() if parameter.dtype is dtype}
    return dict(sorted(found.items()))


def replica_of(transformer: torch.nn.Module, trained: dict[str, torch.nn.Parameter]) -> torch.nn.Module:
    """A second module tree over the same storage, but for frozen copies of what is `trained`.

    To be made before anything hooks into the first one's parameters.
    """
    own = {id(parameter) for parameter in trained.values()}
    tensors = chain(transformer.parameters(), transformer.buffers())
    # What is in the memo already, `deepcopy` takes as it is.
    shared: dict[int, Any] = {id(tensor): tensor for tensor in tensors if id(tensor) not in own}
    twin = copy.deepcopy(transformer, shared)
    for parameter in twin.parameters():
        if id(parameter) not in shared:
            parameter.requires_grad_(False)
    return twin
