"""A group's fragments become pairs in the order in which micro-batches index them."""

import math
from dataclasses import replace

import pytest
import torch

from tests.engine.stacked import latents_of, means_of, next_latents_of
from worker.engine.errors import NonFiniteError
from worker.engine.trainer.learners.transition_pairs import GroupPairs
from worker.engine.types import GroupBatch


def test_a_group_is_flattened_member_by_member(groups: list[GroupBatch]) -> None:
    group = groups[0]
    pairs = GroupPairs.of(group)
    (fragment,) = group.trajectories
    stored = pairs.stored(range(12), torch.device("cpu"))
    assert stored.indices.tolist() == [0, 1, 2] * 4
    assert stored.advantages.tolist() == pytest.approx([value for value in group.advantages for _ in range(3)])
    assert torch.equal(stored.latents, latents_of(fragment).flatten(0, 1))
    assert torch.equal(stored.next_latents, next_latents_of(fragment).flatten(0, 1))
    assert torch.equal(stored.old_log_probs, fragment.log_probs.flatten())
    assert stored.means is not None
    assert torch.equal(stored.means, means_of(fragment).flatten(0, 1))
    assert pairs.describe(7) == "group 0, member 2, denoising step 1"


def test_a_pair_that_no_part_holds_is_refused(groups: list[GroupBatch]) -> None:
    (fragment,) = groups[0].trajectories
    states = {step: state for step, state in fragment.states.items() if step != 1}
    pairs = GroupPairs.of(replace(groups[0], trajectories=(replace(fragment, states=states),)))
    assert len(pairs.stored((8, 11), torch.device("cpu")).latents) == 2
    with pytest.raises(ValueError, match=r"latents 1 of members \[0\] of group 0 must be given"):
        pairs.stored((0,), torch.device("cpu"))


def test_a_window_that_differs_within_a_group_is_refused(groups: list[GroupBatch]) -> None:
    (fragment,) = groups[0].trajectories
    mixed = replace(groups[0], trajectories=(fragment, replace(fragment, sde_indices=(0, 1, 3))), advantages=(0.0,) * 8)
    with pytest.raises(ValueError, match="must share `sde_indices` and `sigmas`"):
        GroupPairs.of(mixed)


def test_advantages_must_be_one_per_member_and_finite(groups: list[GroupBatch]) -> None:
    with pytest.raises(ValueError, match=r"one value per member \(at least 4\), got 3"):
        GroupPairs.of(replace(groups[0], advantages=(0.0,) * 3))
    with pytest.raises(NonFiniteError, match="`advantage` must be finite, got nan at group 0, member 1"):
        GroupPairs.of(replace(groups[0], advantages=(0.0, math.nan, 0.0, 0.0)))
