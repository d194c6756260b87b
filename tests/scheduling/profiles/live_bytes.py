"""The most bytes that a computation holds at once, counted without memory behind them (on torch's meta device)."""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class _LiveBytes(TorchDispatchMode):
    """Follows every storage that an operation makes, from its birth until nothing holds it."""

    def __init__(self) -> None:
        super().__init__()
        self.live = self.peak = 0
        self._followed: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = {_key(tensor) for tensor in _tensors((args, kwargs))}
        made = func(*args, **(kwargs or {}))
        for tensor in _tensors(made):
            # Views and results in place lie in a storage that was there before.
            if (key := _key(tensor)) not in self._followed | given:
                storage = tensor.untyped_storage()
                self._followed.add(key)
                self.live += storage.nbytes()
                weakref.finalize(storage, self._end, key, storage.nbytes())
        self.peak = max(self.peak, self.live)
        return made

    def _end(self, key: int, num_bytes: int) -> None:
        self._followed.discard(key)
        self.live -= num_bytes


def _tensors(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def _key(tensor: torch.Tensor) -> int:
    key: int = tensor.untyped_storage()._cdata
    return key


def peak_bytes(compute: Callable[[], object]) -> int:
    """The most bytes of tensors that exist at once in `compute`, its arguments and weights left out."""
    with torch.inference_mode(), _LiveBytes() as counted:
        compute()
    return counted.peak
