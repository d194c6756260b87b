"""Devices that fail below torch's operators: what a step asks for is carried out, and then some bits are wrong."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Spoil = Callable[[torch.Tensor, Sequence[Any]], None]
"""(what an operator wrote, its arguments) → changes the former in place."""


class FaultyDevice(TorchDispatchMode):
    """Within it the results of one operator of ATen are spoilt, but for those of the first `after` calls."""

    def __init__(self, operator: Any, spoil: Spoil, after: int = 0) -> None:
        super().__init__()
        self._operator, self._spoil, self._left = operator, spoil, after

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is self._operator:
            self._left -= 1
            if self._left < 0:
                self._spoil(result, args)
        return result


def flip_bit(position: int, bit: int) -> Spoil:
    """One bit of one element is the other way round."""

    def spoil(result: torch.Tensor, arguments: Sequence[Any]) -> None:
        words = result.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[result.element_size()]).flatten()
        words[position] ^= 1 << bit

    return spoil


def fill_with(value: float) -> Spoil:
    """Every element is `value`."""

    def spoil(result: torch.Tensor, arguments: Sequence[Any]) -> None:
        result.fill_(value)

    return spoil


def only(dtype: torch.dtype, spoil: Spoil) -> Spoil:
    """Results of other dtypes are right: those in float64 are the CPU's, which is not what is tested."""

    def spoil_some(result: torch.Tensor, arguments: Sequence[Any]) -> None:
        if result.dtype == dtype:
            spoil(result, arguments)

    return spoil_some
