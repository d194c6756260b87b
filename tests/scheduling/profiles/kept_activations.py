"""What autograd keeps of a forward pass until the backward pass, counted on the meta device: shapes without memory."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch

from tests.scheduling.profiles.fused_attention import FusedAttention

_BF16_BYTES = 2


def kept_bytes(model: torch.nn.Module, inputs: Mapping[str, torch.Tensor]) -> int:
    """The bytes that a forward pass of `model` keeps, beside its weights and the copies that LoRA computes with."""
    kept: dict[int, torch.UntypedStorage] = {}
    with _kept_storages(kept), FusedAttention():
        model(**inputs)
    weights = {parameter.untyped_storage()._cdata for parameter in model.parameters()}
    copies = sum(parameter.numel() for parameter in model.parameters() if parameter.dtype is torch.float32)
    return sum(storage.nbytes() for key, storage in kept.items() if key not in weights) - _BF16_BYTES * copies


@contextmanager
def _kept_storages(kept: dict[int, torch.UntypedStorage]) -> Iterator[None]:
    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
        yield
