"""How a policy version is split into shards: the same on every rank, from names and sizes alone.

```text
trainable tensors in name order ─ split ─► shard 0 │ shard 1 │ …        each at most `SHARD_BYTES`, of one expert
rank r of N publishes                      shard r │ shard r + N │ …    from the weights it holds or gathers
pullers bind                               all of them, one after the other
```

A LoRA fits into one shard, so rank 0 publishes it; the full weights of a transformer are published by all ranks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from worker.engine.models.sharded_parameters import full_numel
from worker.engine.types import PublishedShard, version_checksum

SHARD_BYTES = 2**28
"""The most bytes of a shard: a rollout lane holds one beside its weights while it pulls."""


def split_into_shards(
    trainable: Mapping[str, torch.nn.Parameter], experts: Sequence[str] = ("",)
) -> tuple[tuple[str, ...], ...]:
    """The names of the tensors in each shard. A tensor larger than `SHARD_BYTES` is a shard by itself.

    Args:
        trainable: the parameters to publish, by name.
        experts: name prefixes of experts, which share no shard, because each becomes files of its own.
    """
    shards: list[list[str]] = []
    open_bytes, open_expert = 0, ""
    for name in sorted(trainable):
        num_bytes = full_numel(trainable[name]) * trainable[name].element_size()
        expert = next(prefix for prefix in experts if name.startswith(prefix))
        if not shards or expert != open_expert or open_bytes + num_bytes > SHARD_BYTES:
            shards.append([])
            open_bytes, open_expert = 0, expert
        shards[-1].append(name)
        open_bytes += num_bytes
    return tuple(tuple(names) for names in shards)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedVersion:
    """A `PublishedVersion` whose shards are all in this process's memory."""

    loaded: tuple[PublishedShard, ...]
    """All shards in order."""

    @property
    def policy_version(self) -> int:
        return self.loaded[0].policy_version

    @property
    def sha256(self) -> str:
        return version_checksum([shard.sha256 for shard in self.loaded])

    def shards(self) -> Iterator[PublishedShard]:
        return iter(self.loaded)

    @property
    def num_bytes(self) -> int:
        """Bytes of all shards, weights for evaluation included."""
        return sum(shard.num_bytes for shard in self.loaded)

    @property
    def evaluated(self) -> "LoadedVersion | None":
        """The weights for evaluation, where they differ from those that draw training data."""
        found = tuple(shard.evaluated for shard in self.loaded if shard.evaluated is not None)
        return LoadedVersion(loaded=found) if found else None

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """Views of the tensors of all shards, by name."""
        return {name: tensor for shard in self.loaded for name, tensor in shard.tensors.items()}
