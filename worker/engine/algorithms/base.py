"""The interface of an algorithm: which denoising steps it trains on, and its loss from the values of a micro-batch.

A unit is what a micro-batch counts: a (trajectory, denoising step) pair, a sample at a noise level, a preference pair
at a noise level, or a sample finished with gradients. B is the number of units in a micro-batch.
"""

import hashlib
import random
from dataclasses import dataclass
from typing import Protocol

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPosition:
    """The position of a training group in its run, which is the same on every lane."""

    run_seed: int
    batch: int
    prompt_index: int

    def rng(self, *, of_batch: bool = False) -> random.Random:
        """A generator seeded by this position; with `of_batch` the same one for all groups of the batch."""
        group = "" if of_batch else f"/{self.prompt_index}"
        digest = hashlib.blake2b(f"{self.run_seed}/{self.batch}{group}/steps".encode(), digest_size=8).digest()
        return random.Random(int.from_bytes(digest, "big"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSteps:
    """The denoising steps that an algorithm uses of one group's trajectories, in ascending order.

    Steps that are not stochastic are deterministic, and steps that are not trained are not stored.
    """

    stochastic: tuple[int, ...] = ()
    """The denoising steps that add noise."""
    trained: tuple[int, ...] = ()
    """The denoising steps whose samples are stored and trained on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldMeans:
    """The current means of B transitions against those of the policy that drew them; every field (B,) fp32."""

    divergences: torch.Tensor
    """mean((mean - old mean)²) / (2 std²), with gradient: the KL of the two Gaussians, averaged over dimensions."""
    stds: torch.Tensor
    """The standard deviation of the noise that the denoising step adds."""
    step_sizes: torch.Tensor
    """The size of the denoising step, -dt > 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProximalPairs:
    """B transitions that an older version drew, under the proximal policy: the weights at the start of training on
    their batch. Every field (B,) fp32, without gradient but for `divergences`."""

    log_ratios: torch.Tensor
    """Log-ratios of the proximal to the behaviour policy, as `PolicyGradient.log_ratios` defines them."""
    divergences: torch.Tensor | None = None
    """As `OldMeans.divergences`, of the current means against those of the proximal policy; `None` where the algorithm
    does not need them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPairs:
    """B stored transitions, replayed under the current policy; every field (B,) fp32."""

    log_probs: torch.Tensor
    """Log-probs under the current policy, with gradient."""
    old_log_probs: torch.Tensor
    """Log-probs under the behaviour policy, as stored in sampling."""
    advantages: torch.Tensor
    """The advantage of each pair's trajectory."""
    kl: torch.Tensor | None
    """The KL divergence to the reference policy, with gradient; `None` where the algorithm does not need it."""
    proximal: ProximalPairs | None = None
    """The pairs under the proximal policy; `None` where they are clipped around the behaviour policy: fresh pairs
    always, because the two are one policy."""
    old_means: OldMeans | None = None
    """The distance to the stored means; `None` where the algorithm does not need it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardProcessBatch:
    """Finished samples with noise added, x = (1 - sigma) x0 + sigma eps, and the velocities predicted at x."""

    clean: torch.Tensor
    """(B, ...): x0."""
    noise: torch.Tensor
    """(B, ...): eps."""
    sigmas: torch.Tensor
    """(B,): noise levels in (0, 1]."""
    velocities: torch.Tensor
    """(B, ...): velocities of the current policy, with gradient."""
    old_velocities: torch.Tensor | None
    """(B, ...): velocities of the old policy; `None` where the algorithm does not need them."""
    reference_velocities: torch.Tensor | None
    """(B, ...): velocities of the reference policy; `None` where the algorithm does not need them."""
    advantages: torch.Tensor
    """(B,): the advantage of each sample."""

    @property
    def noisy(self) -> torch.Tensor:
        """(B, ...): x."""
        sigmas = self.per_element(self.sigmas)
        return (1 - sigmas) * self.clean + sigmas * self.noise

    def per_element(self, values: torch.Tensor) -> torch.Tensor:
        """`values` (B,) reshaped to broadcast over (B, ...)."""
        return values.reshape(-1, *[1] * (self.clean.ndim - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardedSamples:
    """The differentiable rewards of B samples that were finished with gradients; every field (B,) fp32."""

    rewards: torch.Tensor
    """The weighted sum of the rewards, with gradient."""
    penalties: torch.Tensor | None
    """The mean, over the denoising steps taken with gradients, of mean((v - v_reference)²) / (2 sigma²); `None` where
    the algorithm does not need it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossTerms:
    """The loss of each unit, with gradient, and detached quantities for the curves; every field (B,)."""

    loss: torch.Tensor
    ratio: torch.Tensor | None = None
    """Importance ratios to the behaviour policy, where the algorithm has them."""
    clipped: torch.Tensor | None = None
    """Whether the unit's ratio was clipped or its loss masked, bool."""
    kl: torch.Tensor | None = None
    """The distance to the reference policy, where the algorithm computes it itself."""


class PolicyGradient(Protocol):
    """An algorithm on stored transitions."""

    def log_ratios(self, pairs: ReplayedPairs) -> torch.Tensor:
        """(B,), with gradient: the logarithm of the ratio of the current to the behaviour policy."""
        ...

    def terms(self, pairs: ReplayedPairs) -> LossTerms: ...


class ForwardProcess(Protocol):
    """An algorithm on single finished samples."""

    def terms(self, samples: ForwardProcessBatch) -> LossTerms: ...


class Preference(Protocol):
    """An algorithm on pairs of finished samples: entry i of `winners` is preferred to entry i of `losers`."""

    def terms(self, winners: ForwardProcessBatch, losers: ForwardProcessBatch) -> LossTerms: ...


class Feedback(Protocol):
    """An algorithm on the gradient of a differentiable reward."""

    def gradient_sigmas(self, sigmas: torch.Tensor, index: int) -> torch.Tensor:
        """The sigmas, down to 0, of the denoising with gradients of a sample that was stored before step `index` of the
        schedule `sigmas`."""
        ...

    def terms(self, samples: RewardedSamples) -> LossTerms: ...


def with_kl(loss: torch.Tensor, pairs: ReplayedPairs, coefficient: float) -> torch.Tensor:
    """`loss` (B,) plus `coefficient` times the KL divergence to the reference policy.

    Raises:
        ValueError: when `coefficient` is above 0 and `pairs.kl` is missing.
    """
    if not coefficient:
        return loss
    if pairs.kl is None:
        raise ValueError("`kl` must be given when `algorithm.kl_coefficient` is above 0")
    return loss + coefficient * pairs.kl


def require_old_means(pairs: ReplayedPairs) -> OldMeans:
    """The pairs' `old_means`. Raises `ValueError` when the pairs were replayed without them."""
    if pairs.old_means is None:
        raise ValueError("`old_means` must be given: sampling keeps them for algorithms that need them")
    return pairs.old_means


def mean_over_sample(values: torch.Tensor) -> torch.Tensor:
    """`values` (B, ...) averaged over all but the first dimension, (B,)."""
    return values.flatten(1).mean(1)
