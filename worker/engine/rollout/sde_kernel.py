"""The stochastic kernel of one run: the spec's SDE on one exact schedule, indexed by denoising step.

Invariant: rollout and replay use kernels built from the same `SamplingSpec` and the same sigmas, so a transition has
the same distribution in both.
"""

from dataclasses import dataclass

import torch

from worker.contracts.names import SdeType
from worker.contracts.sections import SamplingSpec
from worker.engine.rollout.sde import SdeStep, cps_step, dance_sde_step, flow_sde_step


@dataclass(frozen=True, slots=True)
class SdeKernel:
    """The SDE of one run on one schedule."""

    sde_type: SdeType
    noise_level: float
    """The parameter of the SDE that scales its noise: a of `flow_sde_step` and `cps_step`, eta of `dance_sde_step`."""
    sigmas: torch.Tensor
    """(num_denoising_steps + 1,) fp32, from 1 to 0, on the device of the samples."""

    @classmethod
    def of(cls, sampling: SamplingSpec, sigmas: torch.Tensor) -> "SdeKernel":
        """The spec's SDE on the schedule `sigmas`."""
        return cls(sde_type=sampling.sde_type, noise_level=sampling.noise_level, sigmas=sigmas)

    def step(
        self,
        velocity: torch.Tensor,
        sample: torch.Tensor,
        indices: torch.Tensor | int,
        *,
        noise: torch.Tensor | None = None,
        next_sample: torch.Tensor | None = None,
    ) -> SdeStep:
        """Denoising step `indices` (one for all, or (N,)) of `sample` (N, ...): drawn with `noise`, or replayed for
        `next_sample`. Exactly one of the two is given, or `ValueError` is raised."""
        sigma, sigma_next = self.sigmas[indices], self.sigmas[indices + 1]
        if self.sde_type is SdeType.CPS:
            return cps_step(
                velocity,
                sample,
                sigma,
                sigma_next,
                noise_level=self.noise_level,
                noise=noise,
                next_sample=next_sample,
            )
        if self.sde_type is SdeType.DANCE:
            return dance_sde_step(
                velocity,
                sample,
                sigma,
                sigma_next,
                noise_level=self.noise_level,
                noise=noise,
                next_sample=next_sample,
            )
        return flow_sde_step(
            velocity,
            sample,
            sigma,
            sigma_next,
            noise_level=self.noise_level,
            second_sigma=self.sigmas[1],
            noise=noise,
            next_sample=next_sample,
        )

    def kl(
        self, mean: torch.Tensor, reference_mean: torch.Tensor, std: torch.Tensor, indices: torch.Tensor
    ) -> torch.Tensor:
        """The KL divergence to the reference policy for each sample, (N,): mean((mean - reference)²) / (2 s²).

        s is the diffusion coefficient, i.e. std / sqrt(-dt): Flow-GRPO (arXiv 2505.05470) leaves dt out, so that the
        penalty of a denoising step does not depend on the schedule. For CPS, s is the std itself.

        Args:
            mean: (N, ...), of the policy.
            reference_mean: (N, ...), of the reference policy.
            std: of either, broadcastable over (N, ...).
            indices: (N,), the denoising step of each sample.
        """
        squared = (mean - reference_mean).square().flatten(1).mean(1)
        variance = std.flatten().square()
        if self.sde_type is not SdeType.CPS:
            variance = variance / (self.sigmas[indices] - self.sigmas[indices + 1])
        return squared / (2 * variance)
