"""Host buffers of versions: they hold what was staged, are reused, and never exceed their bound."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from worker.engine.sync.checksums import checksum
from worker.engine.sync.host_staging import HostStaging

DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.uint8)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), min_size=1, max_size=6))
def test_staged_tensors_are_those_that_were_given(shapes: list[tuple[int, int]]) -> None:
    tensors = {
        str(index): torch.arange(length * 3).to(DTYPES[kind]).reshape(length, 3)
        for index, (length, kind) in enumerate(shapes)
    }
    assert checksum(HostStaging().staged(tensors)) == checksum(tensors)


def test_every_version_uses_the_memory_of_the_one_before() -> None:
    staging, pointers = HostStaging(), set[tuple[int, ...]]()
    for version in range(3):
        staging.begin()
        shards = [staging.staged({"a": torch.full((1000,), float(version + shard))}) for shard in range(2)]
        assert [float(shard["a"][-1]) for shard in shards] == [version, version + 1], "shards share no memory"
        pointers.add(tuple(shard["a"].data_ptr() for shard in shards))
    assert len(pointers) == 1


@pytest.mark.parametrize("larger_first", [True, False])
def test_what_exceeds_the_bound_is_copied_without_being_kept(larger_first: bool) -> None:
    staging = HostStaging(max_bytes=1000)
    sizes = (200, 100) if larger_first else (100, 200)
    for _ in range(2):
        staging.begin()
        for size in sizes:
            staged = staging.staged({"a": torch.full((size,), float(size))})
            assert staged["a"].tolist() == [size] * size
    assert staging.num_bytes <= 1000
