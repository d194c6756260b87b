"""Devices that have no memory for calls of more than so many rows, or for tensors of more than so many bytes: torch's
own error, raised in the real path."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

MESSAGE = "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.11 GiB."


@contextmanager
def no_memory_for(
    module: torch.nn.Module, *, more_than: int, in_backward: bool = False, rows: Callable[[Any], int] = len
) -> Iterator[list[int]]:
    """Calls of `module` with more rows than `more_than` run out of memory, as they begin or in their backward pass.

    Yields:
        The numbers of rows of the calls so far, those that failed included.
    """
    calls = list[int]()

    def check(number: int) -> None:
        if number > more_than:
            raise torch.OutOfMemoryError(MESSAGE)

    def before(_: torch.nn.Module, args: Any, kwargs: Any) -> None:
        number = rows(kwargs["hidden_states"] if kwargs else args[0])
        calls.append(number)
        if not in_backward:
            check(number)

    def after(_: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        number = rows(kwargs["hidden_states"] if kwargs else args[0])
        tensor = output[0] if isinstance(output, tuple) else output
        if in_backward and tensor.requires_grad:
            tensor.register_hook(lambda _: check(number))

    hooks = [
        module.register_forward_pre_hook(before, with_kwargs=True),
        module.register_forward_hook(after, with_kwargs=True),
    ]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


class NoMemoryFor(TorchDispatchMode):
    """Within it, in the thread that enters it, a result of more than `num_bytes` runs out of memory."""

    def __init__(self, num_bytes: int) -> None:
        super().__init__()
        self._num_bytes = num_bytes

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {leaf.untyped_storage().data_ptr() for leaf in tree_leaves((args, kwargs)) if _is_tensor(leaf)}
        for made in filter(_is_tensor, tree_leaves(result)):
            # Views and results in place take no memory.
            storage = made.untyped_storage()
            if storage.nbytes() > self._num_bytes and storage.data_ptr() not in given:
                raise torch.OutOfMemoryError(MESSAGE)
        return result


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)
