"""Reward flow, after ROLL's pipeline for IPRO (arXiv 2510.14255): a gradient through several denoising steps.

The last steps are Euler steps x' = x + v dt with gradients, then the decoder, then the rewards.
loss = -w (reward - m) / s + c penalty; penalty = mean over those steps of mean((v - v_reference)²) / (2 sigma²), the
reference being the base model, its adapter switched off.
"""

import torch

from worker.contracts.algorithms import RewardFlowSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps, LossTerms, RewardedSamples, mean_over_sample


class RewardFlow:
    def __init__(self, spec: RewardFlowSpec) -> None:
        self._spec = spec

    def path(self, sigmas: torch.Tensor, index: int) -> torch.Tensor:
        """The rest of the schedule."""
        return sigmas[index:]

    def terms(self, samples: RewardedSamples) -> LossTerms:
        normalised = (samples.rewards - self._spec.reward_mean) / self._spec.reward_std
        return with_penalty(-self._spec.reward_scale * normalised, samples, self._spec.kl_coefficient)


def with_penalty(loss: torch.Tensor, samples: RewardedSamples, coefficient: float) -> LossTerms:
    """Raises `ValueError` when a penalty is wanted and was not computed."""
    if not coefficient:
        return LossTerms(loss=loss)
    if samples.penalties is None:
        raise ValueError("`penalties` must be given when `algorithm.kl_coefficient` is above 0")
    return LossTerms(loss=loss + coefficient * samples.penalties, kl=samples.penalties.detach())


def penalty(velocities: torch.Tensor, reference: torch.Tensor, sigmas: torch.Tensor) -> torch.Tensor:
    """Of one denoising step, (B,); `sigmas` (B,)."""
    return mean_over_sample((velocities - reference).square()) / (2 * sigmas.square())


def last_steps(spec: RewardFlowSpec, sampling: SamplingSpec, place: GroupPosition) -> GroupSteps:
    """Rollout lanes keep the sample that the first of the gradient's steps starts from."""
    return GroupSteps(trained=(sampling.num_denoising_steps - spec.num_gradient_steps,))
