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


def pairs(
    new: list[float],
    old: list[float],
    advantages: list[float],
    kl: list[float] | None = None,
    *,
    is_stale: bool = False,
) -> ReplayedPairs:
    return ReplayedPairs(
        log_probs=torch.tensor(new, requires_grad=True),
        old_log_probs=torch.tensor(old),
        advantages=torch.tensor(advantages),
        kl=None if kl is None else torch.tensor(kl),
        is_stale=is_stale,
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
    terms = FlowGrpo(FlowGrpoSpec(clip_range=clip_range)).terms(pairs(new, old, advantages))
    ratio = np.exp(np.asarray(new) - np.asarray(old))
    bounded = np.clip(ratio, 1 - clip_range, 1 + clip_range)
    expected = np.maximum(-np.asarray(advantages) * ratio, -np.asarray(advantages) * bounded)
    np.testing.assert_allclose(terms.loss.detach(), expected, rtol=1e-4, atol=1e-5)
    assert terms.ratio is not None
    np.testing.assert_allclose(terms.ratio, ratio, rtol=1e-5)


def test_on_policy_the_gradient_is_minus_the_advantage() -> None:
    given_pairs = pairs([0.3, 0.3], [0.3, 0.3], [2.0, -1.0])
    FlowGrpo(FlowGrpoSpec()).terms(given_pairs).loss.sum().backward()
    assert given_pairs.log_probs.grad is not None
    assert given_pairs.log_probs.grad.tolist() == pytest.approx([-2.0, 1.0])


def test_beyond_the_clip_range_a_sample_of_positive_advantage_has_no_gradient() -> None:
    given_pairs = pairs([0.5, 0.5], [0.0, 0.0], [1.0, -1.0])
    terms = FlowGrpo(FlowGrpoSpec(clip_range=0.1)).terms(given_pairs)
    terms.loss.sum().backward()
    assert given_pairs.log_probs.grad is not None
    assert given_pairs.log_probs.grad[0] == 0
    assert given_pairs.log_probs.grad[1] > 0
    assert terms.clipped is not None
    assert terms.clipped.tolist() == [True, True]


def test_kl_is_added_with_its_coefficient_and_needed_only_then() -> None:
    spec = FlowGrpoSpec(kl_coefficient=0.5)
    with_kl = FlowGrpo(spec)
    assert spec.needs.reference
    assert with_kl.terms(pairs([0.0], [0.0], [0.0], kl=[4.0])).loss.item() == pytest.approx(2.0)
    with pytest.raises(ValueError, match="`kl` must be given"):
        with_kl.terms(pairs([0.0], [0.0], [0.0]))
    assert not FlowGrpoSpec().needs.reference


def test_stale_pairs_are_weighted_by_their_truncated_ratio() -> None:
    """AIPO, arXiv 2505.24034: -min(ratio, cap) A log-prob, with the weight detached."""
    new, old, advantages = [0.5, 0.2, -0.1], [0.0, 0.3, -0.8], [1.0, -2.0, 0.5]
    given_pairs = pairs(new, old, advantages, is_stale=True)
    terms = FlowGrpo(FlowGrpoSpec(clip_range=0.1), importance_cap=1.5).terms(given_pairs)
    weights = np.minimum(np.exp(np.array(new) - np.array(old)), 1.5)
    np.testing.assert_allclose(terms.loss.detach().numpy(), -weights * np.array(advantages) * np.array(new), rtol=1e-6)
    terms.loss.sum().backward()
    assert given_pairs.log_probs.grad is not None
    np.testing.assert_allclose(given_pairs.log_probs.grad.numpy(), -weights * np.array(advantages), rtol=1e-6)
    assert terms.clipped is not None
    assert terms.clipped.tolist() == [True, False, True]
    assert terms.ratio is not None
    np.testing.assert_allclose(terms.ratio.numpy(), np.exp(np.array(new) - np.array(old)), rtol=1e-6)


def test_the_cap_changes_stale_pairs_alone_and_without_one_they_are_clipped() -> None:
    new, old, advantages = [0.5, 0.2, -0.1], [0.0, 0.3, -0.8], [1.0, -2.0, 0.5]
    clipped = FlowGrpo(FlowGrpoSpec(clip_range=0.1)).terms(pairs(new, old, advantages)).loss
    capped = FlowGrpo(FlowGrpoSpec(clip_range=0.1), importance_cap=1.5)
    assert torch.equal(capped.terms(pairs(new, old, advantages)).loss, clipped)
    without = FlowGrpo(FlowGrpoSpec(clip_range=0.1)).terms(pairs(new, old, advantages, is_stale=True)).loss
    assert torch.equal(without, clipped)


def test_a_penalty_is_added_to_stale_pairs_too() -> None:
    spec = FlowGrpoSpec(kl_coefficient=0.5)
    without = FlowGrpo(FlowGrpoSpec(), importance_cap=2.0).terms(pairs([0.1], [0.0], [1.0], is_stale=True)).loss
    with_kl = FlowGrpo(spec, importance_cap=2.0).terms(pairs([0.1], [0.0], [1.0], [3.0], is_stale=True)).loss
    torch.testing.assert_close(with_kl, without + 1.5)
