"""Pack a policy version: copied while nothing changes, then made immutable beside whatever goes on.

    live weights ─ snapshot ─► copies ─ pack ─► PublishedShard ─ bind ─► another process's live weights

A snapshot is short and holds training up; packing works on the copies alone.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import torch
from deepspeed.accelerator import get_accelerator

from worker.engine.errors import SyncError
from worker.engine.sync.checksums import checksum
from worker.engine.sync.finite import require_finite
from worker.engine.types import PackedTensor, PublishedShard

EVALUATED = "evaluated:"
"""Before the names of what evaluation draws with, in a snapshot that holds both."""


def snapshot(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copies on the same device, complete when this returns.

    Raises:
        SyncError: when there are none.
        NonFiniteError: for weights that are NaN or infinite: lanes would draw with them.
    """
    if not tensors:
        raise SyncError("a policy version must hold at least one tensor, got 0: nothing of the model is trained")
    require_finite("weights", tensors)
    copies = {name: tensors[name].detach().clone().contiguous() for name in sorted(tensors)}
    get_accelerator().synchronize()
    return copies


def pack(copies: Mapping[str, torch.Tensor], policy_version: int) -> PublishedShard:
    """A snapshot as an immutable shard on the CPU. May run in a thread of its own beside training.

    Names that begin with `EVALUATED` are those of a second policy, published with the first.
    """
    own = {name: tensor for name, tensor in copies.items() if not name.startswith(EVALUATED)}
    second = {name.removeprefix(EVALUATED): copies[name] for name in copies if name.startswith(EVALUATED)}
    with _beside_training(next(iter(copies.values())).device):
        return PublishedShard(
            policy_version=policy_version,
            packed={name: PackedTensor.of(tensor.to("cpu").contiguous()) for name, tensor in own.items()},
            sha256=checksum(own),
            evaluated=pack(second, policy_version) if second else None,
        )


def _beside_training(device: torch.device) -> AbstractContextManager[object]:
    """A stream of its own, or the copy would queue up behind the kernels of the next batch."""
    if device.type == "cpu":
        return nullcontext()
    accelerator = get_accelerator()
    stream: AbstractContextManager[object] = accelerator.stream(accelerator.Stream())
    return stream
