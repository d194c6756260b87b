"""A device that has no memory for calls of more than so many rows: torch's own error, raised in the real path."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

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
