"""Stale pairs are clipped around the proximal policy: formulas in numpy, from three Gaussians with two gaps."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.algorithms import FlowDppoSpec, FlowGrpoSpec, GrpoGuardSpec
from worker.engine.algorithms.base import OldMeans, PolicyGradient, ProximalPairs, ReplayedPairs
from worker.engine.algorithms.flow_dppo import FlowDppo
from worker.engine.algorithms.flow_grpo import FlowGrpo
from worker.engine.algorithms.grpo_guard import GrpoGuard

NUM, DIMENSIONS = 24, 40
STEP_SIZES = np.linspace(0.1, 0.3, NUM)
CAP = 1.005
"""Truncates some of the weights below, not all."""


class Policies:
    """Pairs drawn from N(old, std²), the proximal means near the old ones and the new means near those; in float64."""

    def __init__(self, seed: int = 3, age: float = 0.02, shift: float = 0.02) -> None:
        rng = np.random.default_rng(seed)
        self.stds = rng.uniform(0.2, 0.6, NUM)
        self.old = rng.normal(size=(NUM, DIMENSIONS))
        self.proximal = self.old + age * rng.normal(size=(NUM, DIMENSIONS))
        self.new = self.proximal + shift * rng.normal(size=(NUM, DIMENSIONS))
        self.noise = rng.normal(size=(NUM, DIMENSIONS))
        self.drawn = self.old + self.stds[:, None] * self.noise
        self.advantages = rng.normal(size=NUM)

    def log_ratio(self, means: np.ndarray, others: np.ndarray) -> np.ndarray:
        """(NUM,): mean over dimensions of log N(drawn; means) - log N(drawn; others)."""
        squares = (self.drawn - others) ** 2 - (self.drawn - means) ** 2
        return (squares / (2 * self.stds[:, None] ** 2)).mean(1)

    def divergence(self, means: np.ndarray, others: np.ndarray) -> np.ndarray:
        return ((means - others) ** 2).mean(1) / (2 * self.stds**2)

    def pairs(self, means: np.ndarray, kl: torch.Tensor | None = None) -> ReplayedPairs:
        """The pairs under the policy of `means`, clipped around the behaviour policy."""
        return ReplayedPairs(
            log_probs=torch.tensor(self.log_ratio(means, np.zeros_like(means)), requires_grad=True),
            old_log_probs=torch.tensor(self.log_ratio(self.old, np.zeros_like(means))),
            advantages=torch.tensor(self.advantages),
            kl=kl,
            old_means=OldMeans(
                divergences=torch.tensor(self.divergence(means, self.old)),
                stds=torch.tensor(self.stds),
                step_sizes=torch.tensor(STEP_SIZES),
            ),
        )

    def stale(self, algorithm: PolicyGradient, kl: torch.Tensor | None = None) -> ReplayedPairs:
        """The pairs under the new policy, clipped around the proximal one."""
        proximal = ProximalPairs(
            log_ratios=algorithm.log_ratios(self.pairs(self.proximal)).detach(),
            divergences=torch.tensor(self.divergence(self.new, self.proximal)),
        )
        return replace(self.pairs(self.new, kl), proximal=proximal)


def flow_grpo(cap: float = CAP, bound: float = 2e-3, **settings: Any) -> FlowGrpo:
    return FlowGrpo(FlowGrpoSpec(clip_range=bound, **settings), cap)


def grpo_guard(cap: float = CAP, bound: float = 2e-3, **settings: Any) -> GrpoGuard:
    return GrpoGuard(GrpoGuardSpec(clip_range=bound, **settings), cap)


def flow_dppo(cap: float = CAP, bound: float = 1e-3, **settings: Any) -> FlowDppo:
    return FlowDppo(FlowDppoSpec(divergence_bound=bound, **settings), cap)


BUILDERS: dict[str, Callable[..., Any]] = {"flow_grpo": flow_grpo, "grpo_guard": grpo_guard, "flow_dppo": flow_dppo}
EACH = pytest.mark.parametrize("name", BUILDERS)


def pessimistic(advantages: np.ndarray, ratio: np.ndarray, clip: float) -> np.ndarray:
    return np.maximum(-advantages * ratio, -advantages * np.clip(ratio, 1 - clip, 1 + clip))


def gradient(algorithm: PolicyGradient, pairs: ReplayedPairs) -> torch.Tensor:
    (found,) = torch.autograd.grad(algorithm.terms(pairs).loss.sum(), pairs.log_probs)
    return found


def test_flow_grpos_ratio_to_the_proximal_policy_is_clipped_and_weighted() -> None:
    given_policies, clip = Policies(), 2e-3
    ratio = np.exp(given_policies.log_ratio(given_policies.new, given_policies.proximal))
    weights = np.minimum(np.exp(given_policies.log_ratio(given_policies.proximal, given_policies.old)), CAP)
    algorithm = flow_grpo(bound=clip)
    terms = algorithm.terms(given_policies.stale(algorithm))
    assert terms.clipped is not None and terms.ratio is not None
    expected = weights * pessimistic(given_policies.advantages, ratio, clip)
    np.testing.assert_allclose(terms.loss.detach(), expected, rtol=1e-9)
    assert terms.clipped.tolist() == (np.abs(ratio - 1) > clip).tolist()
    assert 0 < terms.clipped.sum() < NUM and 0 < (weights == CAP).sum() < NUM
    to_behaviour = np.exp(given_policies.log_ratio(given_policies.new, given_policies.old))
    np.testing.assert_allclose(terms.ratio, to_behaviour, rtol=1e-9)


def test_guards_ratio_is_the_shift_from_the_proximal_mean_along_the_noise() -> None:
    """Both log-ratios are linear in the mean, so their difference is centred for pairs that the older policy drew."""
    given_policies, clip = Policies(), 2e-3
    ratio = np.exp(((given_policies.new - given_policies.proximal) * given_policies.noise).mean(1))
    shift = ((given_policies.proximal - given_policies.old) * given_policies.noise).mean(1)
    weights = np.minimum(np.exp(shift), CAP)
    algorithm = grpo_guard(bound=clip)
    terms = algorithm.terms(given_policies.stale(algorithm))
    assert terms.clipped is not None
    expected = weights * pessimistic(given_policies.advantages, ratio, clip) / STEP_SIZES
    np.testing.assert_allclose(terms.loss.detach(), expected, rtol=1e-9)
    assert terms.clipped.tolist() == (np.abs(ratio - 1) > clip).tolist()
    assert 0 < terms.clipped.sum() < NUM


def test_dppo_masks_by_the_divergence_from_the_proximal_policy() -> None:
    given_policies = Policies()
    ratio = np.exp(given_policies.log_ratio(given_policies.new, given_policies.proximal))
    weights = np.minimum(np.exp(given_policies.log_ratio(given_policies.proximal, given_policies.old)), CAP)
    divergences = given_policies.divergence(given_policies.new, given_policies.proximal)
    bound = float(np.median(divergences))
    masked = (given_policies.advantages * (ratio - 1) > 0) & (divergences >= bound)
    algorithm = flow_dppo(bound=bound)
    terms = algorithm.terms(given_policies.stale(algorithm))
    assert terms.clipped is not None
    expected = np.where(masked, 0, -given_policies.advantages * weights * ratio)
    np.testing.assert_allclose(terms.loss.detach(), expected, rtol=1e-9)
    assert terms.clipped.tolist() == masked.tolist()
    assert 0 < masked.sum() < NUM
    around_behaviour = algorithm.terms(given_policies.pairs(given_policies.new)).clipped
    assert around_behaviour is not None and around_behaviour.tolist() != masked.tolist()


@EACH
@given(seed=st.integers(0, 2**32 - 1), shift=st.floats(0, 0.1))
def test_where_behaviour_and_proximal_policy_are_one_loss_and_gradient_are_the_plain_ones(
    name: str, seed: int, shift: float
) -> None:
    same = Policies(seed, age=0.0, shift=shift)
    algorithm = BUILDERS[name](cap=1.0)
    plain, stale = same.pairs(same.new), same.stale(algorithm)
    found, expected = algorithm.terms(stale), algorithm.terms(plain)
    np.testing.assert_allclose(found.loss.detach(), expected.loss.detach(), rtol=1e-9, atol=1e-15)
    assert torch.equal(found.clipped, expected.clipped)
    np.testing.assert_allclose(gradient(algorithm, stale), gradient(algorithm, plain), rtol=1e-9, atol=1e-15)


@EACH
@given(seed=st.integers(0, 2**32 - 1), age=st.floats(0, 0.5))
def test_while_the_policy_is_the_proximal_one_no_age_clips_a_pair(name: str, seed: int, age: float) -> None:
    at_start = Policies(seed, age=age, shift=0.0)
    algorithm = BUILDERS[name](bound=1e-6)
    terms = algorithm.terms(at_start.stale(algorithm))
    assert not terms.clipped.any()
    assert (gradient(algorithm, at_start.stale(algorithm)) != 0).all()


@EACH
@given(seed=st.integers(0, 2**32 - 1))
def test_without_clip_and_cap_the_loss_is_that_of_the_ratio_to_the_behaviour_policy(name: str, seed: int) -> None:
    given_policies, algorithm = Policies(seed), BUILDERS[name](cap=100.0, bound=0.99)
    stale, plain = given_policies.stale(algorithm), given_policies.pairs(given_policies.new)
    np.testing.assert_allclose(algorithm.terms(stale).loss.detach(), algorithm.terms(plain).loss.detach(), rtol=1e-9)
    np.testing.assert_allclose(gradient(algorithm, stale), gradient(algorithm, plain), rtol=1e-9)


@EACH
def test_the_penalty_is_not_weighted(name: str) -> None:
    given_policies, kl = Policies(), torch.full((NUM,), 3.0, dtype=torch.float64)
    without, with_kl = BUILDERS[name](), BUILDERS[name](kl_coefficient=0.5)
    expected = without.terms(given_policies.stale(without)).loss + 1.5
    torch.testing.assert_close(with_kl.terms(given_policies.stale(with_kl, kl)).loss, expected)


def test_dppo_needs_the_divergences_from_the_proximal_policy() -> None:
    given_policies, algorithm = Policies(), flow_dppo()
    stale = given_policies.stale(algorithm)
    assert stale.proximal is not None
    with pytest.raises(ValueError, match=r"`proximal.divergences` must be given"):
        algorithm.terms(replace(stale, proximal=replace(stale.proximal, divergences=None)))
