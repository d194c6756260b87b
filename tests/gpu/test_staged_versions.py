"""Versions that pass pinned host memory hold the bits of the device, version after version."""

import pytest
import torch

from worker.engine.devices.selection import resolve_device
from worker.engine.sync.checksums import checksum
from worker.engine.sync.host_staging import HostStaging
from worker.engine.sync.packing import pack, snapshot

pytestmark = pytest.mark.gpu


def test_a_staged_version_is_the_one_on_the_device() -> None:
    device, staging = resolve_device(None), HostStaging()
    for version in range(3):
        weights = {name: torch.randn(1000, 1000, device=device) for name in ("a", "b")}
        staging.begin()
        shard = pack(snapshot(weights), version, staging)
        assert checksum(shard.tensors) == shard.sha256 == checksum(weights)
        assert staging.num_bytes == sum(tensor.nbytes for tensor in weights.values())
        assert all(buffer.is_pinned() for buffer in staging._buffers)
