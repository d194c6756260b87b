"""Versions that NCCL brings from one card to the others hold the bits of the first, and a lost member ends nothing
else. Two cards are needed."""

import threading
import time
from collections.abc import Sequence

import pytest
import torch

from tests.bench.gpu.broadcast_members import HERE, BroadcastMembers, devices
from worker.engine.devices.broadcast_group import BroadcastGroup
from worker.engine.errors import BroadcastError
from worker.engine.sync.checksums import checksum

pytestmark = pytest.mark.gpu


@pytest.fixture
def cards(accelerator: str) -> Sequence[torch.device]:
    found = devices()
    if len(found) < 2:
        pytest.skip("this machine has one card")
    return found


def test_every_card_binds_the_bits_of_the_first(cards: Sequence[torch.device]) -> None:
    shards = [
        {"a": torch.randn(1000, 1001, device=cards[0]), "b": torch.randn(77, device=cards[0]).bfloat16()},
        {"c": torch.randn(3, device=cards[0])},
    ]
    members = BroadcastMembers(shards, cards[0], cards[1:])
    checksums = [checksum(shard) for shard in shards]
    for _ in range(3):
        members.broadcast()
        receipts = members.bind(checksums)
        assert [receipt.num_bound_tensors for receipt in receipts] == [3] * (len(cards) - 1)


def test_a_member_that_does_not_take_part_ends_the_broadcast_and_not_the_process(
    cards: Sequence[torch.device],
) -> None:
    store = torch.distributed.TCPStore(HERE, 0, is_master=True, wait_for_workers=False)
    groups: dict[int, BroadcastGroup] = {}

    def join(rank: int) -> None:
        torch.get_device_module(cards[rank]).set_device(cards[rank])
        groups[rank] = BroadcastGroup(torch.distributed.PrefixStore("group", store), rank, 2, cards[rank])

    threads = [threading.Thread(target=join, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    def both() -> None:
        """NCCL connects in the first broadcast."""
        torch.get_device_module(cards[1]).set_device(cards[1])
        groups[1].finish(groups[1].begin(torch.empty(1000, dtype=torch.uint8, device=cards[1]), 60))

    other = threading.Thread(target=both)
    other.start()
    buffer = torch.ones(1000, dtype=torch.uint8, device=cards[0])
    groups[0].finish(groups[0].begin(buffer, 60))
    other.join()
    began = time.monotonic()
    with pytest.raises(BroadcastError, match="did not take part"):
        large = torch.ones(2**28, dtype=torch.uint8, device=cards[0])
        groups[0].finish(groups[0].begin(large, 2.0))
    assert time.monotonic() - began < 30
    # The device works on.
    assert int(buffer.sum()) == 1000
