"""Publish a policy version and bind it: copied into the live modules, then read back from them.

    live weights ─ snapshot ─► copies ─ publish ─► PublishedAdapter ─ bind ─► another process's live weights

A snapshot is short and holds training up; publishing works on the snapshot alone, beside whatever goes on.

The invariant: a pull either reproduces the publisher's checksum from the modules that the next forward will use, or
raises. A sync that binds nothing is an error, never a silent success.
"""

import hashlib
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import torch
from deepspeed.accelerator import get_accelerator

from worker.engine.errors import SyncError, listing
from worker.engine.models.lora import lora_parameters
from worker.engine.types import PublishedAdapter, PullReceipt

EVALUATED = "evaluated:"
"""Before the names of what evaluation draws with, in a snapshot that holds both."""


def adapter_checksum(tensors: Mapping[str, torch.Tensor]) -> str:
    """Canonical sha256 over names, shapes, dtypes and bytes, in name order."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name}|{tuple(tensor.shape)}|{tensor.dtype}|".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def snapshot(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copies on the same device, complete when this returns. Raises `SyncError` when there are none."""
    if not tensors:
        raise SyncError("an adapter must hold at least one tensor, got 0: the model has no LoRA layers")
    copies = {name: tensors[name].detach().clone().contiguous() for name in sorted(tensors)}
    get_accelerator().synchronize()
    return copies


def publish(copies: Mapping[str, torch.Tensor], policy_version: int) -> PublishedAdapter:
    """A snapshot as an immutable version on the CPU. May run in a thread of its own beside training.

    Names that begin with `EVALUATED` are those of a second adapter, published with the first.
    """
    with _beside_training(next(iter(copies.values())).device):
        on_cpu = {name: tensor.to("cpu") for name, tensor in copies.items()}
    evaluated = {name.removeprefix(EVALUATED): on_cpu.pop(name) for name in copies if name.startswith(EVALUATED)}
    return PublishedAdapter(
        policy_version=policy_version,
        tensors=on_cpu,
        sha256=adapter_checksum(on_cpu),
        evaluated=publish(evaluated, policy_version) if evaluated else None,
    )


def _beside_training(device: torch.device) -> AbstractContextManager[object]:
    """A stream of its own, or the copy would queue up behind the kernels of the next batch."""
    if device.type == "cpu":
        return nullcontext()
    accelerator = get_accelerator()
    stream: AbstractContextManager[object] = accelerator.stream(accelerator.Stream())
    return stream


@torch.no_grad()
def bind(transformer: torch.nn.Module, adapter: PublishedAdapter) -> PullReceipt:
    """Copy a published version into the transformer's LoRA layers and report what they now hold.

    Raises:
        SyncError: when nothing was bound, names or shapes differ, or the checksum read back is another.
    """
    live = lora_parameters(transformer)
    _check_names(set(live), set(adapter.tensors))
    for name, parameter in live.items():
        source = adapter.tensors[name]
        if source.shape != parameter.shape:
            raise SyncError(
                f"`{name}` must have shape {tuple(parameter.shape)}, got {tuple(source.shape)}: "
                "publisher and puller have different `lora` settings"
            )
        parameter.copy_(source)
    return _read_back(transformer, adapter)


def _check_names(live: set[str], published: set[str]) -> None:
    if not live & published:
        raise SyncError(
            f"0 of {len(published)} published tensors would be bound: "
            f"the model holds {listing(live, 3) or 'no LoRA layers'}, published are {listing(published, 3) or 'none'}"
        )
    if live != published:
        raise SyncError(
            "published and live LoRA tensors must have the same names; "
            f"missing: {listing(live - published, 5) or 'none'}; extra: {listing(published - live, 5) or 'none'}"
        )


def _read_back(transformer: torch.nn.Module, adapter: PublishedAdapter) -> PullReceipt:
    bound = lora_parameters(transformer)
    sha256 = adapter_checksum(dict(bound))
    if sha256 != adapter.sha256:
        raise SyncError(
            f"policy version {adapter.policy_version} must read back as sha256 {adapter.sha256}, got {sha256}: "
            "the tensors changed between publisher and live modules"
        )
    return PullReceipt(policy_version=adapter.policy_version, num_bound_tensors=len(bound), sha256=sha256)
