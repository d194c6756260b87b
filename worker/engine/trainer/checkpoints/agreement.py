"""What the trainer ranks tell each other while a checkpoint is written or read.

Invariant: after a failure on one rank all ranks raise an error of the same kind, since a rank that went on alone would
wait for the others until the collective times out.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from worker.engine.errors import CheckpointDamagedError, CheckpointError

T = TypeVar("T")


def gather(value: T) -> list[T]:
    """The value of every rank, in rank order; a collective."""
    gathered: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(gathered, value)
    return gathered


def together(action: Callable[[], T]) -> T:
    """The result of `action` once it has succeeded on every rank; a collective, which `action` must not contain.

    Raises:
        Exception: what `action` raised on this rank; of several ranks with errors, one that found damage, where another
            met an error of another kind, raises that one's.
        CheckpointDamagedError: when the other ranks' errors are all of this kind.
        CheckpointError: when another rank met an error of any other kind; of the same class where that is one of
            `CheckpointError`'s.
    """
    problem: Exception | None = None
    try:
        result = action()
    except Exception as error:
        problem = error
    own = None if problem is None else (_kind(problem), _described(problem))
    found = {rank: each for rank, each in enumerate(gather(own)) if each is not None}
    if not found:
        return result
    is_damage = all(kind is CheckpointDamagedError for kind, _ in found.values())
    if problem is not None and (is_damage or not isinstance(problem, CheckpointDamagedError)):
        raise problem
    rank, (kind, text) = next(
        (rank, each) for rank, each in found.items() if (each[0] is CheckpointDamagedError) == is_damage
    )
    raise kind(f"on trainer rank {rank}: {text}")


def _kind(problem: Exception) -> type[CheckpointError]:
    """The class of the error that the other ranks raise for a problem."""
    return type(problem) if isinstance(problem, CheckpointError) else CheckpointError


def _described(problem: Exception) -> str:
    return str(problem) if isinstance(problem, CheckpointError) else f"{type(problem).__name__}: {problem}"
