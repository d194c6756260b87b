"""Fragments: what one rank holds of a tensor that the trainer ranks share, as a contiguous part of it flattened.

Every stage of ZeRO divides its state along flattened tensors. So a checkpoint of fragments can be written by any number
of ranks in any stage, and read by any other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of one tensor that is flattened in row-major order."""

    start: int
    """The index of the first element in the flattened tensor."""
    values: torch.Tensor
    """(n,) the elements: a view of the training state, which changes when it is written to."""
    is_replicated: bool = False
    """Whether every rank holds the same fragment, which is then the whole tensor."""

    def share(self, rank: int, world_size: int) -> "Fragment":
        """The part that `rank` has to write: all of what it holds alone, an equal share of what all hold. It may be
        empty."""
        if not self.is_replicated:
            return self
        size = -(-self.values.numel() // world_size)
        first = min(rank * size, self.values.numel())
        return replace(self, start=self.start + first, values=self.values[first : first + size])


Fragments = Mapping[str, Fragment]
"""Fragments by the name of the trainable parameter, of those that this rank holds anything of."""


def replicated(tensor: torch.Tensor) -> Fragment:
    """All of a tensor that every rank holds."""
    return Fragment(0, tensor.data.view(-1), is_replicated=True)


def sharded(shard: torch.Tensor, *, full_numel: int, rank: int) -> Fragment | None:
    """The fragment in the flat `shard` of `rank`, where all shards are as long and the last ones may be padded; `None`
    for a shard of padding alone."""
    start = rank * shard.numel()
    numel = min(shard.numel(), full_numel - start)
    return Fragment(start, shard[:numel]) if numel > 0 else None
