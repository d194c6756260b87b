"""Pairs are spread so that each is trained once and no rank ever waits for another."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from worker.engine.errors import NonFiniteError
from worker.engine.trainer.pairs import GroupPairs, rank_share
from worker.engine.types import GroupBatch


@given(num_pairs=st.integers(1, 200), micro_batch_size=st.integers(1, 40), world_size=st.integers(1, 9))
def test_each_pair_is_trained_by_exactly_one_rank(num_pairs: int, micro_batch_size: int, world_size: int) -> None:
    shares = [rank_share(num_pairs, micro_batch_size, rank, world_size) for rank in range(world_size)]
    trained = [pair for share in shares for micro in share if micro.weight for pair in range(micro.start, micro.end)]
    assert sorted(trained) == list(range(num_pairs))


@given(num_pairs=st.integers(1, 200), micro_batch_size=st.integers(1, 40), world_size=st.integers(1, 9))
def test_ranks_stay_in_lockstep_within_the_micro_batch_size(
    num_pairs: int, micro_batch_size: int, world_size: int
) -> None:
    shares = [rank_share(num_pairs, micro_batch_size, rank, world_size) for rank in range(world_size)]
    assert {len(share) for share in shares} == {math.ceil(math.ceil(num_pairs / world_size) / micro_batch_size)}
    assert all(0 < micro.end - micro.start <= micro_batch_size for share in shares for micro in share)
    assert all(micro.end <= num_pairs for share in shares for micro in share)


def test_a_group_is_flattened_member_by_member(groups: list[GroupBatch]) -> None:
    group = groups[0]
    pairs = GroupPairs.of(group)
    (fragment,) = group.trajectories
    assert len(pairs) == 12
    assert pairs.indices.tolist() == [0, 1, 2] * 4
    assert pairs.advantages.tolist() == pytest.approx([value for value in group.advantages for _ in range(3)])
    assert torch.equal(pairs.latents[3 * 2 + 1], fragment.latents[2, 1])
    assert torch.equal(pairs.next_latents[3 * 2 + 1], fragment.next_latents[2, 1])
    assert pairs.old_log_probs[7] == fragment.log_probs[2, 1]
    assert pairs.means is not None and fragment.means is not None
    assert torch.equal(pairs.means[7], fragment.means[2, 1])
    assert pairs.place(7) == "group 0, member 2, denoising step 1"


def test_a_window_that_differs_within_a_group_is_refused(groups: list[GroupBatch]) -> None:
    (fragment,) = groups[0].trajectories
    mixed = replace(groups[0], trajectories=(fragment, replace(fragment, sde_indices=(0, 1, 3))), advantages=(0.0,) * 8)
    with pytest.raises(ValueError, match="must share `sde_indices` and `sigmas`"):
        GroupPairs.of(mixed)


def test_advantages_must_be_one_per_member_and_finite(groups: list[GroupBatch]) -> None:
    with pytest.raises(ValueError, match=r"one value per member \(4\), got 3"):
        GroupPairs.of(replace(groups[0], advantages=(0.0,) * 3))
    with pytest.raises(NonFiniteError, match="`advantage` must be finite, got nan at group 0, member 1"):
        GroupPairs.of(replace(groups[0], advantages=(0.0, math.nan, 0.0, 0.0)))
