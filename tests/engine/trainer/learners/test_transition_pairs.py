"""A group's fragments become pairs in the order in which micro-batches index them."""

import math
from dataclasses import replace

import pytest
import torch

from worker.engine.errors import NonFiniteError
from worker.engine.trainer.learners.transition_pairs import GroupPairs
from worker.engine.types import GroupBatch


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
    assert pairs.describe(7) == "group 0, member 2, denoising step 1"


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
