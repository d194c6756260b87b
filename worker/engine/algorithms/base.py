"""What algorithms are asked and what they answer: which steps a group is trained on, and the loss of a unit of it.

A unit is what a micro-batch counts: a (trajectory, denoising step) pair, a sample at a noise level, two samples at one,
or a sample that a reward judges. Every tensor of a unit's values has the micro-batch's units, B, as first dimension.
"""

import hashlib
import random
from dataclasses import dataclass
from typing import Protocol

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPosition:
    """Where a training group lies in its run: the same on every lane, whoever draws or trains it."""

    run_seed: int
    batch: int
    prompt_index: int

    def dice(self, *, of_batch: bool = False) -> random.Random:
        """Seeded by the place; `of_batch`: alike for all groups of the batch."""
        group = "" if of_batch else f"/{self.prompt_index}"
        digest = hashlib.blake2b(f"{self.run_seed}/{self.batch}{group}/steps".encode(), digest_size=8).digest()
        return random.Random(int.from_bytes(digest, "big"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSteps:
    """Denoising steps of one group's trajectories, ascending; the others are deterministic, and not stored."""

    stochastic: tuple[int, ...] = ()
    trained: tuple[int, ...] = ()
    """Those whose sample is stored and trained on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldMeans:
    """How the policy's means stand to those of the policy that drew; every field (B,) fp32."""

    divergences: torch.Tensor
    """mean((mean - old mean)²) / (2 std²), with gradient: the KL of the two Gaussians, averaged over dimensions."""
    stds: torch.Tensor
    """Of the noise that the step adds."""
    step_sizes: torch.Tensor
    """-dt, above 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPairs:
    """B stored transitions, replayed under the current policy; every field (B,) fp32."""

    log_probs: torch.Tensor
    """Under the current policy; carries the gradient."""
    old_log_probs: torch.Tensor
    """Under the behaviour policy, as stored at sampling."""
    advantages: torch.Tensor
    kl: torch.Tensor | None
    """To the reference policy, with gradient; `None` where the algorithm asked for none."""
    is_stale: bool
    """Whether the behaviour policy is of an older version than the batch is trained on."""
    old_means: OldMeans | None = None
    """Where the algorithm needs them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardProcessBatch:
    """Finished samples noised anew, x = (1 - sigma) x0 + sigma eps, and what is predicted there."""

    clean: torch.Tensor
    """x0, (B, ...)"""
    noise: torch.Tensor
    """eps, (B, ...)"""
    sigmas: torch.Tensor
    """(B,), in (0, 1]"""
    velocities: torch.Tensor
    """(B, ...), of the current policy; carries the gradient."""
    old_velocities: torch.Tensor | None
    """(B, ...), of the second adapter, where the algorithm needs it."""
    reference_velocities: torch.Tensor | None
    """(B, ...), of the base model, where the algorithm needs it."""
    advantages: torch.Tensor
    """(B,)"""

    @property
    def noisy(self) -> torch.Tensor:
        """x, (B, ...)"""
        sigmas = self.per_element(self.sigmas)
        return (1 - sigmas) * self.clean + sigmas * self.noise

    def per_element(self, values: torch.Tensor) -> torch.Tensor:
        """(B,) so that it broadcasts over (B, ...)."""
        return values.reshape(-1, *[1] * (self.clean.ndim - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardedSamples:
    """Samples finished with gradients, and what the differentiable rewards say of them; every field (B,) fp32."""

    rewards: torch.Tensor
    """Weighted sum, with gradient."""
    penalties: torch.Tensor | None
    """Mean over the gradient's denoising steps of mean((v - v_reference)²) / (2 sigma²), where asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossTerms:
    """Per unit, (B,): `loss` carries the gradient, the rest is detached and for the curves."""

    loss: torch.Tensor
    ratio: torch.Tensor | None = None
    clipped: torch.Tensor | None = None
    kl: torch.Tensor | None = None
    """Where the loss itself is made of the distance to the reference."""


class PolicyGradient(Protocol):
    def terms(self, pairs: ReplayedPairs) -> LossTerms: ...


class ForwardProcess(Protocol):
    def terms(self, samples: ForwardProcessBatch) -> LossTerms: ...


class Preference(Protocol):
    def terms(self, winners: ForwardProcessBatch, losers: ForwardProcessBatch) -> LossTerms: ...


class Feedback(Protocol):
    def path(self, sigmas: torch.Tensor, index: int) -> torch.Tensor:
        """The sigmas that a sample kept before denoising step `index` is led through with gradients, down to 0."""
        ...

    def terms(self, samples: RewardedSamples) -> LossTerms: ...


def with_kl(loss: torch.Tensor, pairs: ReplayedPairs, coefficient: float) -> torch.Tensor:
    """`loss` and the penalty of leaving the base model.

    Raises:
        ValueError: when a penalty is wanted and `pairs.kl` is missing.
    """
    if not coefficient:
        return loss
    if pairs.kl is None:
        raise ValueError("`kl` must be given when `algorithm.kl_coefficient` is above 0")
    return loss + coefficient * pairs.kl


def require_old_means(pairs: ReplayedPairs) -> OldMeans:
    """Raises `ValueError` where the pairs were replayed without them."""
    if pairs.old_means is None:
        raise ValueError("`old_means` must be given: sampling keeps them for algorithms that need them")
    return pairs.old_means


def mean_over_sample(values: torch.Tensor) -> torch.Tensor:
    """(B, ...) to (B,)."""
    return values.flatten(1).mean(1)
