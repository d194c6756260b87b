"""Bind a published version: copy it into the live modules shard by shard, and read it back from them.

Invariant: a pull either reproduces the publisher's checksum from the modules that the next forward will use, or raises.
A version that binds nothing is an error, never a silent success.
"""

from collections.abc import Mapping

import torch

from worker.engine.errors import SyncError, listing
from worker.engine.models.sharded_parameters import full_shape, gathered
from worker.engine.sync.checksums import checksum
from worker.engine.types import BindableShard, BindableVersion, PullReceipt, version_checksum

Live = Mapping[str, torch.nn.Parameter]
"""The trainable parameters of the live modules, by name."""


@torch.no_grad()
def bind(live: Live, version: BindableVersion, *, evaluated: bool = False) -> PullReceipt:
    """Copy a version into `live` and report what `live` then holds. A collective where parameters are sharded.

    Args:
        live: all trainable parameters by name.
        version: read once, one shard in memory at a time.
        evaluated: bind the weights that evaluation draws with, where the shards have them too.

    Raises:
        SyncError: when no tensor would be bound, names, shapes or dtypes differ, or another checksum is read back.
    """
    missing, checksums = set(live), list[str]()
    for shard in version.shards():
        chosen = shard.evaluated if evaluated and shard.evaluated is not None else shard
        published = chosen.tensors
        _check_names(set(published), missing, set(live))
        checksums.append(_bind_shard(live, chosen, published))
        missing -= set(published)
    if missing:
        raise SyncError(
            f"a version must hold every trainable tensor, missing: {listing(missing, 5)}: "
            "publisher and puller train different layers"
        )
    receipt = PullReceipt(
        policy_version=version.policy_version, num_bound_tensors=len(live), sha256=version_checksum(checksums)
    )
    if not evaluated and receipt.sha256 != version.sha256:
        raise SyncError(
            f"policy version {version.policy_version} must read back as sha256 {version.sha256}, "
            f"got {receipt.sha256}: shards are missing or came in another order"
        )
    return receipt


def _bind_shard(live: Live, shard: BindableShard, published: Mapping[str, torch.Tensor]) -> str:
    """Copy the tensors of one shard; returns the checksum read back."""
    bound = {name: live[name] for name in published}
    with gathered(bound.values(), written=True):
        for name, source in published.items():
            found, wanted = (tuple(source.shape), source.dtype), (full_shape(live[name]), live[name].dtype)
            if found != wanted:
                raise SyncError(
                    f"`{name}` must have shape {wanted[0]} and be {wanted[1]}, got {found[0]} of {found[1]}: "
                    "publisher and puller have different `lora` settings or base models"
                )
            live[name].copy_(source)
    with gathered(bound.values()):
        sha256 = checksum(bound)
    if sha256 != shard.sha256:
        raise SyncError(
            f"policy version {shard.policy_version} must read back as sha256 {shard.sha256}, got {sha256}: "
            "the tensors changed between publisher and live modules"
        )
    return sha256


def _check_names(published: set[str], missing: set[str], live: set[str]) -> None:
    """Raise `SyncError` unless every name in a shard is one of `missing`, the names not bound yet."""
    if not live & published:
        raise SyncError(
            f"0 of {len(published)} published tensors would be bound: "
            f"the model trains {listing(live, 3) or 'nothing'}, published are {listing(published, 3) or 'none'}"
        )
    if extra := published - missing:
        raise SyncError(
            "published and live tensors must have the same names, each once; "
            f"missing: {listing(missing - published, 5) or 'none'}; extra: {listing(extra, 5)}"
        )
