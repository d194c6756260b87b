"""DiffusionNFT and online Diffusion-DPO against their formulas in numpy."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from worker.contracts.algorithms import DiffusionDpoSpec, DiffusionNftSpec
from worker.engine.algorithms.base import ForwardProcessBatch
from worker.engine.algorithms.diffusion_dpo import DiffusionDpo, preference_pairs
from worker.engine.algorithms.diffusion_nft import DiffusionNft, old_policy_share

NUM, DIMENSIONS = 5, 12


@dataclass
class Drawn:
    """Random values in float64, which `samples` gives to torch."""

    seed: int

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.clean, self.noise, self.new, self.old, self.reference = rng.normal(size=(5, NUM, DIMENSIONS))
        self.sigmas = rng.uniform(0.05, 1, NUM)
        self.advantages = np.array([2.0, -2.0, 0.0, 9.0, -9.0])

    def samples(self) -> ForwardProcessBatch:
        return ForwardProcessBatch(
            clean=torch.tensor(self.clean),
            noise=torch.tensor(self.noise),
            sigmas=torch.tensor(self.sigmas),
            velocities=torch.tensor(self.new, requires_grad=True),
            old_velocities=torch.tensor(self.old),
            reference_velocities=torch.tensor(self.reference),
            advantages=torch.tensor(self.advantages),
        )


def implied_error(drawn: Drawn, row: int, velocity: np.ndarray) -> tuple[float, np.ndarray]:
    """The normalised error of the sample that `velocity` predicts, and its gradient with respect to the velocity."""
    sigma = drawn.sigmas[row]
    noisy = (1 - sigma) * drawn.clean[row] + sigma * drawn.noise[row]
    deviation = noisy - sigma * velocity - drawn.clean[row]
    divisor = max(np.abs(deviation).mean(), 1e-5)
    return float((deviation**2).mean() / divisor), -2 * sigma * deviation / DIMENSIONS / divisor


def test_nfts_loss_and_gradient_are_the_formulas() -> None:
    drawn, beta, clip, kl = Drawn(1), 0.4, 5.0, 0.3
    spec = DiffusionNftSpec(beta=beta, advantage_clip=clip, kl_coefficient=kl)
    samples = drawn.samples()
    terms = DiffusionNft(spec).terms(samples)
    terms.loss.sum().backward()
    assert samples.velocities.grad is not None
    for row in range(NUM):
        optimality = 0.5 + 0.5 * np.clip(drawn.advantages[row] / clip, -1, 1)
        positive, positive_slope = implied_error(drawn, row, beta * drawn.new[row] + (1 - beta) * drawn.old[row])
        negative, negative_slope = implied_error(drawn, row, (1 + beta) * drawn.old[row] - beta * drawn.new[row])
        distance = ((drawn.new[row] - drawn.reference[row]) ** 2).mean()
        expected = (optimality * positive + (1 - optimality) * negative) / beta * clip + kl * distance
        assert terms.loss[row].item() == pytest.approx(expected, rel=1e-10)
        # dv+/dv = beta and dv-/dv = -beta, which the division by beta cancels.
        slope = clip * (optimality * positive_slope - (1 - optimality) * negative_slope)
        slope = slope + kl * 2 * (drawn.new[row] - drawn.reference[row]) / DIMENSIONS
        np.testing.assert_allclose(samples.velocities.grad[row], slope, rtol=1e-9)


def test_the_old_policys_share_rises_after_its_hold_up_to_its_cap() -> None:
    spec = DiffusionNftSpec(old_decay_rate=0.0075, old_decay_cap=0.999, old_decay_hold=75)
    shares = [old_policy_share(spec, step) for step in (0, 75, 76, 175, 1000)]
    assert shares == pytest.approx([0, 0, 0.0075, 0.75, 0.999])
    assert old_policy_share(DiffusionNftSpec(), 800) == 0.5


def test_nft_names_the_velocities_that_are_missing() -> None:
    samples = Drawn(1).samples()
    without_old = ForwardProcessBatch(
        **{name: getattr(samples, name) for name in samples.__slots__} | {"old_velocities": None}
    )
    with pytest.raises(ValueError, match="`old_velocities` must be given"):
        DiffusionNft(DiffusionNftSpec()).terms(without_old)


def test_dpos_loss_is_the_formula() -> None:
    winners, losers, beta = Drawn(1), Drawn(2), 3.0
    winners.advantages = losers.advantages + 1

    def excess(drawn: Drawn) -> np.ndarray:
        target = drawn.noise - drawn.clean
        return ((drawn.new - target) ** 2).mean(1) - ((drawn.reference - target) ** 2).mean(1)

    margin = -beta / 2 * (excess(winners) - excess(losers))
    terms = DiffusionDpo(DiffusionDpoSpec(beta=beta)).terms(winners.samples(), losers.samples())
    np.testing.assert_allclose(terms.loss.detach(), np.log1p(np.exp(-margin)), rtol=1e-10)


def test_samples_of_equal_advantage_have_no_loss() -> None:
    winners, losers = Drawn(1).samples(), Drawn(2).samples()
    terms = DiffusionDpo(DiffusionDpoSpec()).terms(winners, losers)
    terms.loss.sum().backward()
    assert terms.loss.tolist() == [0.0] * NUM
    assert winners.velocities.grad is not None and not winners.velocities.grad.any()


def test_a_preference_pairs_the_best_with_the_worst() -> None:
    assert preference_pairs([0.1, 0.9, -1.0, 0.5], 2) == [(1, 2), (3, 0)]
    assert preference_pairs([0.0, 0.0], 1) == [(0, 1)]
