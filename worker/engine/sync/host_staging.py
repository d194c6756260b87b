"""Pinned host memory through which each version leaves the device, made once and reused from version to version.

    copies on the device ─ side stream ─► pinned buffers ─ Ray ─► object store

Invariant: what was staged is overwritten only after `begin`, so a version must have reached the object store by then.
Ray stores an actor's return values before the same thread begins its next call, so each `publish` may begin anew.
"""

from collections.abc import Mapping

import torch

from worker.engine.devices.pinned_memory import host_buffer
from worker.engine.sync.flat_shards import layout_of, views

MAX_STAGED_BYTES = 8 * 2**30
"""The most bytes that a rank keeps pinned: its part of 12 billion bf16 weights on 4 ranks is 6 GB, and pinned memory is
lost to everything else on the node. What is beyond it goes through pageable memory."""


class HostStaging:
    """The buffers of one publisher."""

    def __init__(self, max_bytes: int = MAX_STAGED_BYTES) -> None:
        self._max_bytes = max_bytes
        self._buffers: list[torch.Tensor] = []
        """One for each set of tensors of a version, in their order, which is the same in every version."""
        self._num_used = 0

    @property
    def num_bytes(self) -> int:
        """Bytes of all buffers."""
        return sum(buffer.numel() for buffer in self._buffers)

    def begin(self) -> None:
        """A new version: the buffers may be overwritten."""
        self._num_used = 0

    def staged(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Host copies of contiguous `tensors`, which are complete once the current stream is."""
        layout = layout_of(tensors)
        buffer = self._buffer(layout.num_bytes)
        if buffer is None:
            return {name: tensor.to("cpu").contiguous() for name, tensor in tensors.items()}
        found = views(buffer, layout)
        for name, tensor in tensors.items():
            found[name].copy_(tensor, non_blocking=True)
        return found

    def _buffer(self, num_bytes: int) -> torch.Tensor | None:
        """The next buffer, made where it is missing or too small; `None` where it would exceed the bound."""
        index = self._num_used
        kept = self._buffers[index] if index < len(self._buffers) else None
        if kept is None or kept.numel() < num_bytes:
            others = self.num_bytes - (0 if kept is None else kept.numel())
            if others + num_bytes > self._max_bytes:
                return None
            made = host_buffer(num_bytes)
            self._buffers[index : index + 1] = [made]
        self._num_used += 1
        return self._buffers[index]
