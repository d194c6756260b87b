"""The kernels that a pass launches without a compiler, by tracing it with tensors that have no memory.

```text
pass on fake tensors ─► KernelTrace: one Kernel for each operation that reads or writes ─► bytes, operations
```

Views and allocations launch nothing. Attention is one kernel, as FlashAttention and cuDNN make it. The tensors are of a
CPU, since a build of torch without CUDA makes no others; `CardOperations` is what a card does differently.
"""

from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.flop_counter import flop_registry

from tests.scheduling.profiles.fused_attention import FusedAttention


class KernelKind(StrEnum):
    """What bounds a kernel."""

    PRODUCT = auto()
    """A product of matrices."""
    ATTENTION = auto()
    ELEMENT_WISE = auto()
    """Everything that a compiler may fuse: element-wise operations, norms, copies."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor as a kernel reads or writes it."""

    storage: int
    num_bytes: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """One operation."""

    kind: KernelKind
    flops: float
    reads: tuple[Value, ...]
    writes: tuple[Value, ...]

    @property
    def num_bytes(self) -> int:
        return sum(value.num_bytes for value in (*self.reads, *self.writes))


class KernelTrace(TorchDispatchMode):
    """Within it, each operation on tensors is noted in `kernels`."""

    def __init__(self) -> None:
        super().__init__()
        self.kernels: list[Kernel] = []
        self._storages: dict[int, torch.UntypedStorage] = {}
        """Kept, so that no other storage gets the number of one that is gone."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view and func.overloadpacket not in _ALLOCATIONS:
            self._note(func, args, kwargs or {}, result)
        return result

    def _note(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        reads = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        writes = [each for each in tree_leaves(result) if isinstance(each, torch.Tensor)]
        if not writes:
            return
        kind = _KINDS.get(func.overloadpacket, KernelKind.ELEMENT_WISE)
        flops = 0.0
        if kind is KernelKind.ATTENTION:
            flops = _attention_flops(reads, backward=func.overloadpacket is _ATTENTION_BACKWARD)
        elif kind is KernelKind.PRODUCT:
            flops = flop_registry[func.overloadpacket](*args, **kwargs, out_val=result)
        found = tuple(map(self._value, reads)), tuple(map(self._value, writes))
        self.kernels.append(Kernel(kind, float(flops), *found))

    def _value(self, tensor: torch.Tensor) -> Value:
        storage = tensor.untyped_storage()
        self._storages[storage._cdata] = storage
        # An expanded tensor is read as often as its storage has bytes.
        return Value(storage._cdata, min(tensor.numel() * tensor.itemsize, storage.nbytes()))


def _attention_flops(reads: list[torch.Tensor], *, backward: bool) -> float:
    """2 operations for each pair of tokens and unit of width in both products, and five products in the backward pass
    (Dao, FlashAttention-2, arXiv 2307.08691, section 3.1)."""
    query, key = reads[0], reads[1]
    product = 2 * query.numel() * key.shape[-2]
    return product * (5 if backward else 2)


class CardOperations(FusedAttention):
    """Within it attention is one kernel, and autocast computes in the dtypes of CUDA, not of a CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.is_autocast_enabled("cpu"):
            if func in _IN_FP32:
                args = [each.float() if isinstance(each, torch.Tensor) else each for each in args]
            elif func is torch.nn.functional.scaled_dot_product_attention:
                args, kwargs = tree_map_only(torch.Tensor, torch.Tensor.bfloat16, (args, kwargs))
        return super().__torch_function__(func, types, args, kwargs)


_IN_FP32 = frozenset(
    {
        torch.nn.functional.layer_norm,
        torch.nn.functional.rms_norm,
        torch.rsqrt,
        torch.pow,
        torch.Tensor.pow,
        torch.sum,
        torch.Tensor.sum,
    }
)
"""Those that transformers use of the operations which CUDA's autocast runs in fp32 (PyTorch, "Automatic Mixed Precision
package", CUDA ops that autocast to float32)."""
_ATTENTION_BACKWARD = torch.ops.roofline.attention_backward
_KINDS = {
    torch.ops.aten.mm: KernelKind.PRODUCT,
    torch.ops.aten.addmm: KernelKind.PRODUCT,
    torch.ops.aten.bmm: KernelKind.PRODUCT,
    torch.ops.aten.baddbmm: KernelKind.PRODUCT,
    torch.ops.roofline.attention: KernelKind.ATTENTION,
    _ATTENTION_BACKWARD: KernelKind.ATTENTION,
}
_ALLOCATIONS = {
    torch.ops.aten.empty,
    torch.ops.aten.empty_like,
    torch.ops.aten.empty_strided,
    torch.ops.aten.new_empty,
    torch.ops.aten.new_empty_strided,
    torch.ops.aten.detach,
    torch.ops.aten.lift_fresh,
    torch.ops.aten._unsafe_view,
}
