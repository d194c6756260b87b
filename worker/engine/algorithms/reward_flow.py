"""Reward flow, after ROLL's pipeline for IPRO (arXiv 2510.14255): a reward's gradient through several denoising steps.

The last denoising steps are Euler steps x' = x + v dt with gradients, then come the decoder and the rewards.
loss = -w (reward - m) / s + c penalty; penalty = mean over those steps of mean((v - v_reference)²) / (2 sigma²).
"""

import torch

from worker.contracts.algorithms import RewardFlowSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps, LossTerms, RewardedSamples, mean_over_sample


class RewardFlow:
    """The loss in the module's docstring."""

    def __init__(self, spec: RewardFlowSpec) -> None:
        self._spec = spec

    def gradient_sigmas(self, sigmas: torch.Tensor, index: int) -> torch.Tensor:
        """The rest of the schedule from denoising step `index` on."""
        return sigmas[index:]

    def terms(self, samples: RewardedSamples) -> LossTerms:
        """The loss of each sample. Raises `ValueError` when the penalty is needed and missing."""
        normalised = (samples.rewards - self._spec.reward_mean) / self._spec.reward_std
        return with_penalty(-self._spec.reward_scale * normalised, samples, self._spec.kl_coefficient)


def with_penalty(loss: torch.Tensor, samples: RewardedSamples, coefficient: float) -> LossTerms:
    """`loss` (B,) plus `coefficient` times the samples' penalties.

    Raises:
        ValueError: when `coefficient` is above 0 and the penalties are missing.
    """
    if not coefficient:
        return LossTerms(loss=loss)
    if samples.penalties is None:
        raise ValueError("`penalties` must be given when `algorithm.kl_coefficient` is above 0")
    return LossTerms(loss=loss + coefficient * samples.penalties, kl=samples.penalties.detach())


def penalty(velocities: torch.Tensor, reference: torch.Tensor, sigmas: torch.Tensor) -> torch.Tensor:
    """The penalty of one denoising step, (B,), from velocities (B, ...) and `sigmas` (B,)."""
    return mean_over_sample((velocities - reference).square()) / (2 * sigmas.square())


def last_steps(spec: RewardFlowSpec, sampling: SamplingSpec, position: GroupPosition) -> GroupSteps:
    """The first of the last `num_gradient_steps` denoising steps: rollout stores the sample before it. None is
    stochastic."""
    return GroupSteps(trained=(sampling.num_denoising_steps - spec.num_gradient_steps,))
