"""Parameters that ZeRO 3 has cut: each rank holds a part, and a whole one is there only while all ranks gather it.

Whatever gathers is a collective: a rank that stays away makes the others wait for ever. Parameters that are not cut
pass through as they are, so nobody has to know which kind they hold.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext

import deepspeed
import torch
from deepspeed.runtime.zero.partition_parameters import is_zero_param


@contextmanager
def gathered(parameters: Iterable[torch.nn.Parameter], *, written: bool = False) -> Iterator[None]:
    """Inside, cut parameters are whole on every rank; others are as they are anyway.

    `written`: what rank 0 has written into them by the end is what all ranks hold afterwards.
    """
    cut = [parameter for parameter in parameters if is_zero_param(parameter)]
    context = deepspeed.zero.GatheredParameters(cut, modifier_rank=0 if written else None) if cut else nullcontext()
    with context:
        yield


def full_numel(parameter: torch.nn.Parameter) -> int:
    """Elements of a parameter, cut or not."""
    return int(parameter.ds_numel) if is_zero_param(parameter) else parameter.numel()


def full_shape(parameter: torch.nn.Parameter) -> tuple[int, ...]:
    """Shape of a parameter, cut or not."""
    return tuple(parameter.ds_shape if is_zero_param(parameter) else parameter.shape)


def local_shard(parameter: torch.nn.Parameter) -> torch.Tensor:
    """What this rank alone answers for: its part of a cut parameter, flat; all of another."""
    part: torch.Tensor = parameter.ds_tensor.data if is_zero_param(parameter) else parameter.data
    return part


@torch.no_grad()
def gather_shards(part: torch.Tensor, parameter: torch.nn.Parameter) -> torch.Tensor:
    """All of a tensor that is cut as `parameter` is, from every rank's `part`; a collective."""
    if not is_zero_param(parameter):
        return part
    whole = part.new_empty(part.numel() * torch.distributed.get_world_size())
    torch.distributed.all_gather_into_tensor(whole, part.contiguous())
    return whole[: full_numel(parameter)].view(full_shape(parameter))
