"""Attention as one kernel, as FlashAttention and cuDNN make it, for tensors without memory: fake ones and those on the
meta device, where it would be the product of matrices, which keeps the scores of all pairs of tokens."""

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

# Operations that have shapes and no kernel: they are traced, and nothing can run them.
torch.library.define("roofline::attention", "(Tensor query, Tensor key, Tensor value) -> (Tensor, Tensor)")
torch.library.define(
    "roofline::attention_backward",
    "(Tensor query, Tensor key, Tensor value, Tensor output, Tensor rows, Tensor gradient) -> (Tensor, Tensor, Tensor)",
)


@torch.library.register_fake("roofline::attention")
def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.empty_like(query), query.new_empty(query.shape[:-1], dtype=torch.float32)


@torch.library.register_fake("roofline::attention_backward")
def _attention_backward(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *_: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    return torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)


class _FusedAttention(torch.autograd.Function):
    """Keeps queries, keys, values, output, and a logarithm for each row."""

    @staticmethod
    def forward(ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> Any:
        output, rows = torch.ops.roofline.attention(query, key, value)
        ctx.save_for_backward(query, key, value, output, rows)
        return output

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return torch.ops.roofline.attention_backward(*ctx.saved_tensors, gradient)


class FusedAttention(TorchFunctionMode):
    """Within it `scaled_dot_product_attention` is that kernel."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not torch.nn.functional.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        named = {**dict(zip(("query", "key", "value"), args, strict=False)), **(kwargs or {})}
        return _FusedAttention.apply(named["query"], named["key"], named["value"])
