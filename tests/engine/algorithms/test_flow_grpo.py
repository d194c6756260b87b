"""Flow-GRPO's clipped loss, recomputed in numpy."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.algorithms import ALGORITHM_SPECS, FlowGrpoSpec
from worker.engine.algorithms.base import ReplayedPairs
from worker.engine.algorithms.flow_grpo import FlowGrpo
from worker.engine.algorithms.registry import ALGORITHMS

CAP = 2.0
"""Bounds the weights of stale pairs. None is stale here: see `test_decoupled`."""


def pairs(
    new: list[float],
    old: list[float],
    advantages: list[float],
    kl: list[float] | None = None,
) -> ReplayedPairs:
    return ReplayedPairs(
        log_probs=torch.tensor(new, requires_grad=True),
        old_log_probs=torch.tensor(old),
        advantages=torch.tensor(advantages),
        kl=None if kl is None else torch.tensor(kl),
    )


def test_the_registry_holds_the_algorithms_of_the_contracts() -> None:
    assert set(ALGORITHMS) == set(ALGORITHM_SPECS)


@given(
    values=st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-5, 5)), min_size=1, max_size=8),
    clip_range=st.floats(1e-4, 0.5),
)
def test_the_loss_is_the_maximum_of_the_clipped_and_the_unclipped_one(
    values: list[tuple[float, float, float]], clip_range: float
) -> None:
    new, old, advantages = (list(column) for column in zip(*values, strict=True))
    terms = FlowGrpo(FlowGrpoSpec(clip_range=clip_range), CAP).terms(pairs(new, old, advantages))
    ratio = np.exp(np.asarray(new) - np.asarray(old))
    bounded = np.clip(ratio, 1 - clip_range, 1 + clip_range)
    expected = np.maximum(-np.asarray(advantages) * ratio, -np.asarray(advantages) * bounded)
    np.testing.assert_allclose(terms.loss.detach(), expected, rtol=1e-4, atol=1e-5)
    assert terms.ratio is not None
    np.testing.assert_allclose(terms.ratio, ratio, rtol=1e-5)


def test_on_policy_the_gradient_is_minus_the_advantage() -> None:
    given_pairs = pairs([0.3, 0.3], [0.3, 0.3], [2.0, -1.0])
    FlowGrpo(FlowGrpoSpec(), CAP).terms(given_pairs).loss.sum().backward()
    assert given_pairs.log_probs.grad is not None
    assert given_pairs.log_probs.grad.tolist() == pytest.approx([-2.0, 1.0])


def test_beyond_the_clip_range_a_sample_of_positive_advantage_has_no_gradient() -> None:
    given_pairs = pairs([0.5, 0.5], [0.0, 0.0], [1.0, -1.0])
    terms = FlowGrpo(FlowGrpoSpec(clip_range=0.1), CAP).terms(given_pairs)
    terms.loss.sum().backward()
    assert given_pairs.log_probs.grad is not None
    assert given_pairs.log_probs.grad[0] == 0
    assert given_pairs.log_probs.grad[1] > 0
    assert terms.clipped is not None
    assert terms.clipped.tolist() == [True, True]


def test_kl_is_added_with_its_coefficient_and_needed_only_then() -> None:
    spec = FlowGrpoSpec(kl_coefficient=0.5)
    with_kl = FlowGrpo(spec, CAP)
    assert spec.needs.reference
    assert with_kl.terms(pairs([0.0], [0.0], [0.0], kl=[4.0])).loss.item() == pytest.approx(2.0)
    with pytest.raises(ValueError, match="`kl` must be given"):
        with_kl.terms(pairs([0.0], [0.0], [0.0]))
    assert not FlowGrpoSpec().needs.reference
