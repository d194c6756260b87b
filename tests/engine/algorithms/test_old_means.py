"""GRPO-Guard and Flow-DPPO against their formulas in numpy, computed from the Gaussians themselves."""

import numpy as np
import pytest
import torch

from worker.contracts.algorithms import FlowDppoSpec, GrpoGuardSpec
from worker.engine.algorithms.base import OldMeans, ReplayedPairs
from worker.engine.algorithms.flow_dppo import FlowDppo
from worker.engine.algorithms.grpo_guard import GrpoGuard

NUM, DIMENSIONS = 24, 40
CAP = 2.0
"""Bounds the weights of stale pairs. None is stale here: see `test_decoupled`."""
STEP_SIZES = np.linspace(0.1, 0.3, NUM)


class Gaussians:
    """Pairs drawn from N(old mean, std²), with new means near the old ones; all in float64."""

    def __init__(self, shift: float = 0.02) -> None:
        rng = np.random.default_rng(3)
        self.stds = rng.uniform(0.2, 0.6, NUM)
        self.old = rng.normal(size=(NUM, DIMENSIONS))
        self.new = self.old + shift * rng.normal(size=(NUM, DIMENSIONS))
        self.drawn = self.old + self.stds[:, None] * rng.normal(size=(NUM, DIMENSIONS))
        self.advantages = rng.normal(size=NUM)
        self.advantages[0] = 0
        self.divergences = ((self.new - self.old) ** 2).mean(1) / (2 * self.stds**2)

    def log_probs(self, means: np.ndarray) -> np.ndarray:
        squares = -((self.drawn - means) ** 2) / (2 * self.stds[:, None] ** 2)
        return (squares - np.log(self.stds)[:, None] - 0.5 * np.log(2 * np.pi)).mean(1)

    def pairs(self, kl: torch.Tensor | None = None) -> ReplayedPairs:
        return ReplayedPairs(
            log_probs=torch.tensor(self.log_probs(self.new), requires_grad=True),
            old_log_probs=torch.tensor(self.log_probs(self.old)),
            advantages=torch.tensor(self.advantages),
            kl=kl,
            old_means=OldMeans(
                divergences=torch.tensor(self.divergences),
                stds=torch.tensor(self.stds),
                step_sizes=torch.tensor(STEP_SIZES),
            ),
        )


def test_guards_ratio_is_the_shift_of_the_mean_along_the_noise() -> None:
    """log-prob - old log-prob + b = mean((mean - old mean) z) / std, so the exponent does not depend on std."""
    drawn = Gaussians()
    noise = (drawn.drawn - drawn.old) / drawn.stds[:, None]
    expected = np.exp(((drawn.new - drawn.old) * noise).mean(1))
    terms = GrpoGuard(GrpoGuardSpec(clip_range=0.5), CAP).terms(drawn.pairs())
    assert terms.ratio is not None
    np.testing.assert_allclose(terms.ratio, expected, rtol=1e-10)


def test_guards_gradient_flows_through_the_divergence_too() -> None:
    """The two quadratic terms cancel, so the gradient is along the noise at every distance from the old mean."""
    drawn = Gaussians(shift=0.5)
    means, old, stds = torch.tensor(drawn.new, requires_grad=True), torch.tensor(drawn.old), torch.tensor(drawn.stds)
    squares = -((torch.tensor(drawn.drawn) - means) ** 2) / (2 * stds[:, None] ** 2)
    pairs = ReplayedPairs(
        log_probs=(squares - stds.log()[:, None] - 0.5 * np.log(2 * np.pi)).mean(1),
        old_log_probs=torch.tensor(drawn.log_probs(drawn.old)),
        advantages=torch.ones(NUM, dtype=torch.float64),
        kl=None,
        old_means=OldMeans(
            divergences=((means - old) ** 2).mean(1) / (2 * stds**2), stds=stds, step_sizes=torch.tensor(STEP_SIZES)
        ),
    )
    terms = GrpoGuard(GrpoGuardSpec(clip_range=0.999), CAP).terms(pairs)
    terms.loss.sum().backward()
    noise = (drawn.drawn - drawn.old) / drawn.stds[:, None]
    assert terms.ratio is not None and means.grad is not None
    expected = -terms.ratio.numpy()[:, None] * noise / DIMENSIONS / STEP_SIZES[:, None]
    np.testing.assert_allclose(means.grad, expected, rtol=1e-9, atol=1e-12)


def test_guards_loss_is_clipped_and_divided_by_the_step_size() -> None:
    drawn, clip = Gaussians(), 3e-3
    exponent = drawn.log_probs(drawn.new) - drawn.log_probs(drawn.old) + drawn.divergences
    ratio = np.exp(exponent * drawn.stds)
    pessimistic = np.maximum(-drawn.advantages * ratio, -drawn.advantages * np.clip(ratio, 1 - clip, 1 + clip))
    terms = GrpoGuard(GrpoGuardSpec(clip_range=clip), CAP).terms(drawn.pairs())
    np.testing.assert_allclose(terms.loss.detach(), pessimistic / STEP_SIZES, rtol=1e-10)
    assert terms.clipped is not None
    assert terms.clipped.tolist() == (np.abs(ratio - 1) > clip).tolist()
    assert 0 < terms.clipped.sum() < NUM


def test_dppo_masks_pairs_that_diverged_and_would_move_further_away() -> None:
    drawn = Gaussians()
    bound = float(np.median(drawn.divergences))
    ratio = np.exp(drawn.log_probs(drawn.new) - drawn.log_probs(drawn.old))
    moves_away = ((drawn.advantages > 0) & (ratio > 1)) | ((drawn.advantages < 0) & (ratio < 1))
    masked = moves_away & (drawn.divergences >= bound)
    terms = FlowDppo(FlowDppoSpec(divergence_bound=bound), CAP).terms(drawn.pairs())
    np.testing.assert_allclose(terms.loss.detach(), np.where(masked, 0, -drawn.advantages * ratio), rtol=1e-10)
    assert terms.clipped is not None
    assert terms.clipped.tolist() == masked.tolist()
    assert 0 < masked.sum() < moves_away.sum()


def test_a_masked_pair_has_no_gradient_and_one_that_moves_back_has() -> None:
    drawn = Gaussians(shift=0.5)
    pairs = drawn.pairs()
    terms = FlowDppo(FlowDppoSpec(divergence_bound=1e-9), CAP).terms(pairs)
    terms.loss.sum().backward()
    assert pairs.log_probs.grad is not None and terms.clipped is not None
    has_gradient = pairs.log_probs.grad != 0
    assert has_gradient.tolist() == [
        not masked and advantage != 0
        for masked, advantage in zip(terms.clipped.tolist(), drawn.advantages, strict=True)
    ]


@pytest.mark.parametrize("build", [lambda: GrpoGuard(GrpoGuardSpec(), CAP), lambda: FlowDppo(FlowDppoSpec(), CAP)])
def test_missing_old_means_are_an_error(build) -> None:  # type: ignore[no-untyped-def]
    drawn = Gaussians()
    without_means = ReplayedPairs(
        log_probs=torch.zeros(1), old_log_probs=torch.zeros(1), advantages=torch.ones(1), kl=None
    )
    with pytest.raises(ValueError, match="`old_means` must be given"):
        build().terms(without_means)
    assert drawn.pairs().old_means is not None


def test_both_add_the_penalty_with_its_coefficient() -> None:
    drawn, kl = Gaussians(), torch.full((NUM,), 3.0, dtype=torch.float64)
    for without, with_kl in (
        (GrpoGuard(GrpoGuardSpec(), CAP), GrpoGuard(GrpoGuardSpec(kl_coefficient=0.5), CAP)),
        (FlowDppo(FlowDppoSpec(), CAP), FlowDppo(FlowDppoSpec(kl_coefficient=0.5), CAP)),
    ):
        torch.testing.assert_close(with_kl.terms(drawn.pairs(kl)).loss, without.terms(drawn.pairs()).loss + 1.5)
