"""Pack a policy version: copy the weights while nothing changes them, then make the copies an immutable shard.

    live weights ─ snapshot ─► copies ─ pack ─► PublishedShard ─ bind ─► another process's live weights

A snapshot is short and holds up training; packing reads the copies alone, and may run beside training.
"""

from collections.abc import Mapping

import torch
from deepspeed.accelerator import get_accelerator

from worker.engine.devices.streams import finish_stream, own_stream
from worker.engine.errors import SyncError
from worker.engine.sync.checksums import checksum
from worker.engine.sync.finite import require_finite
from worker.engine.sync.host_staging import HostStaging
from worker.engine.types import PackedTensor, PublishedShard, ShardInfo

EVALUATED = "evaluated:"
"""The prefix, in a snapshot, of the names of weights that evaluation draws with, where they differ from the others."""


def snapshot(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Contiguous copies on the same device in name order, complete when this returns.

    Raises:
        SyncError: when `tensors` is empty.
        NonFiniteError: for weights that are NaN or infinite.
    """
    if not tensors:
        raise SyncError("a policy version must hold at least one tensor, got 0: nothing of the model is trainable")
    require_finite("weights", tensors)
    copies = {name: tensors[name].detach().clone().contiguous() for name in sorted(tensors)}
    get_accelerator().synchronize()
    return copies


def pack(copies: Mapping[str, torch.Tensor], policy_version: int, staging: HostStaging | None = None) -> PublishedShard:
    """A snapshot as a shard on the CPU; may run in a thread of its own beside training.

    Names that begin with `EVALUATED` become the shard's `evaluated`. The shard is immutable, but for one whose bytes
    lie in `staging`: it lasts until the staging begins anew.
    """
    drawing = {name: tensor for name, tensor in copies.items() if not name.startswith(EVALUATED)}
    evaluated = {name.removeprefix(EVALUATED): copies[name] for name in copies if name.startswith(EVALUATED)}
    device = next(iter(copies.values())).device
    with own_stream(device):
        if staging is None or device.type == "cpu":
            hosted = {name: tensor.to("cpu").contiguous() for name, tensor in drawing.items()}
        else:
            hosted = _through(staging, drawing)
        return PublishedShard(
            policy_version=policy_version,
            packed={name: PackedTensor.of(tensor) for name, tensor in hosted.items()},
            sha256=checksum(drawing),
            evaluated=pack(evaluated, policy_version, staging) if evaluated else None,
        )


def shard_info(copies: Mapping[str, torch.Tensor]) -> ShardInfo:
    """What `pack` will make of a snapshot, without the copy on the CPU."""
    drawing = {name: tensor for name, tensor in copies.items() if not name.startswith(EVALUATED)}
    num_bytes = sum(tensor.nbytes for tensor in copies.values())
    return ShardInfo(names=tuple(drawing), num_bytes=num_bytes, sha256=checksum(drawing))


def _through(staging: HostStaging, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Host copies by way of `staging`: all are under way at once, and complete when this returns."""
    staged = staging.staged(tensors)
    finish_stream(next(iter(tensors.values())).device)
    return staged
