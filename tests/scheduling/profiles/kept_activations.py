"""What autograd keeps of a forward pass until the backward pass, counted on the meta device: shapes without memory."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_BF16_BYTES = 2


class _FusedAttention(torch.autograd.Function):
    """Keeps what FlashAttention and cuDNN keep: queries, keys, values, output, and a logarithm for each row."""

    @staticmethod
    def forward(ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        output = torch.empty_like(query)
        rows = query.new_empty(query.shape[:-1], dtype=torch.float32)
        ctx.save_for_backward(query, key, value, output, rows)
        return output

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(torch.empty_like(saved) for saved in ctx.saved_tensors[:3])


class FusedAttention(TorchFunctionMode):
    """Within it attention runs as a kernel of accelerators does. On meta tensors it would be the product of matrices,
    which keeps the scores of all pairs of tokens."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.nn.functional.scaled_dot_product_attention:
            named = {**dict(zip(("query", "key", "value"), args, strict=False)), **(kwargs or {})}
            return _FusedAttention.apply(named["query"], named["key"], named["value"])
        return func(*args, **(kwargs or {}))


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
