"""How a policy version is cut: the same on every rank, from names and sizes alone.

```text
trained tensors in name order ─ cut ─► shard 0 │ shard 1 │ …        each at most `SHARD_BYTES`, of one expert
rank r publishes                       shard r │ shard r + N │ …    N ranks, each from what it holds or gathers
pullers take                           all of them, one after the other
```

A LoRA fits in one shard, so rank 0 publishes it; all weights of a transformer are published by the whole gang.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from worker.engine.models.sharded_parameters import full_numel
from worker.engine.types import PublishedShard, version_checksum

SHARD_BYTES = 2**28


def cut(trained: Mapping[str, torch.nn.Parameter], experts: Sequence[str] = ("",)) -> tuple[tuple[str, ...], ...]:
    """The names in each shard.

    Args:
        trained: what is published, by name.
        experts: prefixes of names that share no shard: each becomes files of its own.
    """
    shards: list[list[str]] = []
    open_bytes, open_expert = 0, ""
    for name in sorted(trained):
        num_bytes = full_numel(trained[name]) * trained[name].element_size()
        expert = next(prefix for prefix in experts if name.startswith(prefix))
        if not shards or expert != open_expert or open_bytes + num_bytes > SHARD_BYTES:
            shards.append([])
            open_bytes, open_expert = 0, expert
        shards[-1].append(name)
        open_bytes += num_bytes
    return tuple(tuple(names) for names in shards)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedVersion:
    """A `PublishedVersion` in this process's memory."""

    held: tuple[PublishedShard, ...]

    @property
    def policy_version(self) -> int:
        return self.held[0].policy_version

    @property
    def sha256(self) -> str:
        return version_checksum([shard.sha256 for shard in self.held])

    def shards(self) -> Iterator[PublishedShard]:
        return iter(self.held)

    @property
    def num_bytes(self) -> int:
        return sum(shard.num_bytes for shard in self.held)

    @property
    def evaluated(self) -> "LoadedVersion | None":
        """As a shard's."""
        found = tuple(shard.evaluated for shard in self.held if shard.evaluated is not None)
        return LoadedVersion(held=found) if found else None

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """Of all shards."""
        return {name: tensor for shard in self.held for name, tensor in shard.tensors.items()}
