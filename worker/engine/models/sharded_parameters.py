"""Parameters that ZeRO 3 may have sharded: each rank holds a shard, and all ranks gather the full parameter together.

Gathering is a collective: if one rank does not take part, the others wait forever. Parameters that are not sharded pass
through unchanged, so callers need not know which kind they hold.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext

import deepspeed
import torch
from deepspeed.runtime.zero.partition_parameters import is_zero_param


@contextmanager
def gathered(parameters: Iterable[torch.nn.Parameter], *, written: bool = False) -> Iterator[None]:
    """Inside the context, every parameter is full on every rank.

    Args:
        parameters: sharded or not.
        written: the caller changes them; what rank 0 has written is what all ranks hold afterwards.
    """
    sharded = [parameter for parameter in parameters if is_zero_param(parameter)]
    modifier_rank = 0 if written else None
    with deepspeed.zero.GatheredParameters(sharded, modifier_rank=modifier_rank) if sharded else nullcontext():
        yield


def full_numel(parameter: torch.nn.Parameter) -> int:
    """The number of elements of the full parameter."""
    return int(parameter.ds_numel) if is_zero_param(parameter) else parameter.numel()


def full_shape(parameter: torch.nn.Parameter) -> tuple[int, ...]:
    """The shape of the full parameter."""
    return tuple(parameter.ds_shape if is_zero_param(parameter) else parameter.shape)


def local_shard(parameter: torch.nn.Parameter) -> torch.Tensor:
    """This rank's flat shard of a sharded parameter, or all of one that is not sharded."""
    shard: torch.Tensor = parameter.ds_tensor.data if is_zero_param(parameter) else parameter.data
    return shard


@torch.no_grad()
def gather_shards(shard: torch.Tensor, parameter: torch.nn.Parameter) -> torch.Tensor:
    """The full tensor from every rank's `shard` of it, for a tensor that is sharded as `parameter` is; a collective."""
    if not is_zero_param(parameter):
        return shard
    full = shard.new_empty(shard.numel() * torch.distributed.get_world_size())
    torch.distributed.all_gather_into_tensor(full, shard.contiguous())
    # The last shard is padded.
    return full[: full_numel(parameter)].view(full_shape(parameter))
