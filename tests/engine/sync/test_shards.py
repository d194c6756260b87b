"""How a version is split into shards, and which rank publishes which."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from worker.engine.sync import shards
from worker.engine.types import shard_indices_of_rank


def test_a_shard_is_within_its_bound_unless_it_is_one_larger_tensor() -> None:
    weights = {
        name: torch.nn.Parameter(torch.zeros(size)) for name, size in zip("abcdef", (9, 1, 2, 3, 4, 5), strict=True)
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shards, "SHARD_BYTES", 4 * 6)
        assert shards.split_into_shards(weights) == (("a",), ("b", "c", "d"), ("e",), ("f",))
    experts = {f"{name}.w": parameter for name, parameter in weights.items()}
    assert shards.split_into_shards(experts, ("a.", "b.", "c.", "d.", "e.", "f.")) == tuple((name,) for name in experts)


@given(num_shards=st.integers(1, 40), world_size=st.integers(1, 12))
def test_every_shard_is_published_by_one_rank(num_shards: int, world_size: int) -> None:
    indices = [shard_indices_of_rank(num_shards, rank=rank, world_size=world_size) for rank in range(world_size)]
    assert sorted(index for own in indices for index in own) == list(range(num_shards))
    assert max(map(len, indices)) - min(map(len, indices)) <= 1
