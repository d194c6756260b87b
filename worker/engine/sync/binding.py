"""Bind a published version: copied into the live modules shard by shard, then read back from them.

The invariant: a pull either reproduces the publisher's checksum from the modules that the next forward will use, or
raises. A sync that binds nothing is an error, never a silent success.
"""

from collections.abc import Mapping

import torch

from worker.engine.errors import SyncError, listing
from worker.engine.models.sharded_parameters import full_shape, gathered
from worker.engine.sync.checksums import checksum
from worker.engine.types import PublishedShard, PublishedVersion, PullReceipt, version_checksum

Live = Mapping[str, torch.nn.Parameter]
"""What a version is bound to, by name."""


@torch.no_grad()
def bind(live: Live, version: PublishedVersion, *, evaluated: bool = False) -> PullReceipt:
    """Copy a version into `live` and report what it now holds. A collective where parameters are cut.

    Args:
        live: all that is trained, by name.
        version: gone through once; no more than a shard of it is held at a time.
        evaluated: bind what evaluation draws with, where a shard holds that too.

    Raises:
        SyncError: when nothing was bound, names or shapes differ, or the checksum read back is another.
    """
    missing, found = set(live), list[str]()
    for shard in version.shards():
        chosen = shard.evaluated if evaluated and shard.evaluated is not None else shard
        _check_names(set(chosen.packed), missing, set(live))
        found.append(_bind_shard(live, chosen))
        missing -= set(chosen.packed)
    if missing:
        raise SyncError(
            f"a version must hold every tensor that is trained, missing: {listing(missing, 5)}: "
            "publisher and puller train other layers"
        )
    receipt = PullReceipt(
        policy_version=version.policy_version, num_bound_tensors=len(live), sha256=version_checksum(found)
    )
    if not evaluated and receipt.sha256 != version.sha256:
        raise SyncError(
            f"policy version {version.policy_version} must read back as sha256 {version.sha256}, "
            f"got {receipt.sha256}: its shards came in another order, or not all of them"
        )
    return receipt


def _bind_shard(live: Live, shard: PublishedShard) -> str:
    bound = {name: live[name] for name in shard.packed}
    with gathered(bound.values(), written=True):
        for name, source in shard.tensors.items():
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


def _check_names(published: set[str], awaited: set[str], live: set[str]) -> None:
    if not live & published:
        raise SyncError(
            f"0 of {len(published)} published tensors would be bound: "
            f"the model trains {listing(live, 3) or 'nothing'}, published are {listing(published, 3) or 'none'}"
        )
    if extra := published - awaited:
        raise SyncError(
            "published and live tensors must have the same names, each once; "
            f"missing: {listing(awaited - published, 5) or 'none'}; extra: {listing(extra, 5)}"
        )
