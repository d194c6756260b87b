"""ReFL (arXiv 2304.05977): the reward of the sample that one late denoising step guesses, followed uphill.

x0 = x - sigma v at a step drawn among the last ones; loss = -w min(reward, ceiling) + c penalty, the penalty being the
distance to the base model as in `reward_flow`. With a ceiling, samples that are good enough are left alone.
"""

import torch

from worker.contracts.algorithms import ReflSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps, LossTerms, RewardedSamples
from worker.engine.algorithms.reward_flow import with_penalty


class Refl:
    def __init__(self, spec: ReflSpec) -> None:
        self._spec = spec

    def path(self, sigmas: torch.Tensor, index: int) -> torch.Tensor:
        """One step all the way, x0 = x - sigma v."""
        return torch.stack([sigmas[index], torch.zeros_like(sigmas[index])])

    def terms(self, samples: RewardedSamples) -> LossTerms:
        rewards, ceiling = samples.rewards, self._spec.reward_ceiling
        wanted = rewards if ceiling is None else rewards.clamp(max=ceiling)
        return with_penalty(-self._spec.reward_scale * wanted, samples, self._spec.kl_coefficient)


def late_step(spec: ReflSpec, sampling: SamplingSpec, place: GroupPosition) -> GroupSteps:
    """One of the last `num_late_steps`, drawn for the group."""
    last = sampling.num_denoising_steps - 1
    return GroupSteps(trained=(place.dice().randint(last - spec.num_late_steps + 1, last),))
