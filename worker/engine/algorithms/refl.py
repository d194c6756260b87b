"""ReFL (arXiv 2304.05977): gradient ascent on the reward of the sample that one late denoising step predicts.

x0 = x - sigma v at a step drawn among the last ones; loss = -w min(reward, ceiling) + c penalty, the penalty being the
distance to the reference policy as in `reward_flow`. Samples whose reward is above the ceiling get no gradient from it.
"""

import torch

from worker.contracts.algorithms import ReflSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps, LossTerms, RewardedSamples
from worker.engine.algorithms.reward_flow import with_penalty


class Refl:
    """The loss in the module's docstring."""

    def __init__(self, spec: ReflSpec) -> None:
        self._spec = spec

    def gradient_sigmas(self, sigmas: torch.Tensor, index: int) -> torch.Tensor:
        """One step to sigma 0, whose Euler step is x0 = x - sigma v."""
        return torch.stack([sigmas[index], torch.zeros_like(sigmas[index])])

    def terms(self, samples: RewardedSamples) -> LossTerms:
        """The loss of each sample. Raises `ValueError` when the penalty is needed and missing."""
        rewards, ceiling = samples.rewards, self._spec.reward_ceiling
        bounded = rewards if ceiling is None else rewards.clamp(max=ceiling)
        return with_penalty(-self._spec.reward_scale * bounded, samples, self._spec.kl_coefficient)


def late_step(spec: ReflSpec, sampling: SamplingSpec, position: GroupPosition) -> GroupSteps:
    """One of the last `num_late_steps` denoising steps, drawn for each group; none is stochastic."""
    last = sampling.num_denoising_steps - 1
    return GroupSteps(trained=(position.rng().randint(last - spec.num_late_steps + 1, last),))
