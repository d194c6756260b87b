"""Shards as flat buffers of bytes: what is staged, broadcast and received in one piece.

Invariant: both ends compute a layout from names, shapes and dtypes alone, so that bytes are all that has to travel.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

from worker.engine.models.sharded_parameters import full_shape
from worker.engine.sync.broadcast_plan import ShardLayout, TensorPlace
from worker.engine.types import version_checksum

_ALIGNMENT = 64
"""Bytes at whose multiples tensors begin: enough for every dtype, and a cache line."""


def layout_of(tensors: Mapping[str, torch.Tensor]) -> ShardLayout:
    """The layout of `tensors` in their order; of a parameter that ZeRO 3 has sharded, of the full one."""
    places, start = list[TensorPlace](), 0
    for name, tensor in tensors.items():
        shape = full_shape(tensor) if isinstance(tensor, torch.nn.Parameter) else tuple(tensor.shape)
        num_bytes = torch.Size(shape).numel() * tensor.element_size()
        places.append(TensorPlace(name, str(tensor.dtype).removeprefix("torch."), shape, start, num_bytes))
        start += -(-num_bytes // _ALIGNMENT) * _ALIGNMENT
    return ShardLayout(tuple(places), start)


def views(buffer: torch.Tensor, layout: ShardLayout) -> dict[str, torch.Tensor]:
    """The tensors of a shard as views of its `buffer`, (num_bytes,) uint8 or longer."""
    return {
        place.name: buffer[place.start : place.start + place.num_bytes]
        .view(getattr(torch, place.dtype))
        .reshape(place.shape)
        for place in layout.places
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedShard:
    """A shard in a receiver's buffer, with the checksum that its publisher gave."""

    policy_version: int
    tensors: Mapping[str, torch.Tensor]
    """Views of the buffer, on the receiver's device; read and never written."""
    sha256: str
    evaluated: None = None
    """Only weights that draw training data are broadcast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedVersion:
    """A `BindableVersion` whose bytes are in this process already."""

    received: tuple[ReceivedShard, ...]
    """All shards in order."""

    @property
    def policy_version(self) -> int:
        return self.received[0].policy_version

    @property
    def sha256(self) -> str:
        """The checksum over all shards."""
        return version_checksum([shard.sha256 for shard in self.received])

    def shards(self) -> Iterator[ReceivedShard]:
        return iter(self.received)
