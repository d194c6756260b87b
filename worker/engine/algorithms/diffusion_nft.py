"""DiffusionNFT (arXiv 2509.16117): reinforcement on the forward process, with neither SDE nor stored trajectory.

Noise is added to a finished sample. r = 1/2 + clip(A / A_max, ±1) / 2 is the sample's optimality. The trained velocity
v implies a positive policy v+ = beta v + (1 - beta) v_old and a negative one v- = (1 + beta) v_old - beta v. Each
predicts the sample as x0± = x - sigma v± with the error L± = mean((x0± - x0)²) / mean|x0± - x0|, whose divisor is
detached and at least 1e-5. loss = (r L+ + (1 - r) L-) A_max / beta + c mean((v - v_reference)²).

The old policy generates. After each batch it becomes d v_old + (1 - d) v, in weights, with d from `old_policy_share`.
"""

import torch

from worker.contracts.algorithms import DiffusionNftSpec
from worker.engine.algorithms.base import ForwardProcessBatch, LossTerms, mean_over_sample

MIN_DIVISOR = 1e-5
"""The lower bound of L±'s divisor, as in the authors' code: an exact prediction would be divided by 0."""


class DiffusionNft:
    """The loss in the module's docstring."""

    def __init__(self, spec: DiffusionNftSpec) -> None:
        self._spec = spec

    def terms(self, samples: ForwardProcessBatch) -> LossTerms:
        """The loss of each sample. Raises `ValueError` for velocities that are needed and missing."""
        spec, old, new = self._spec, samples.old_velocities, samples.velocities
        if old is None:
            raise ValueError("`old_velocities` must be given: the implied policies are extrapolated from the old one")
        optimality = 0.5 + 0.5 * (samples.advantages / spec.advantage_clip).clamp(-1, 1)
        positive = self._error(samples, spec.beta * new + (1 - spec.beta) * old)
        negative = self._error(samples, (1 + spec.beta) * old - spec.beta * new)
        loss = (optimality * positive + (1 - optimality) * negative) * spec.advantage_clip / spec.beta
        if not spec.kl_coefficient:
            return LossTerms(loss=loss)
        if samples.reference_velocities is None:
            raise ValueError("`reference_velocities` must be given when `algorithm.kl_coefficient` is above 0")
        distance = mean_over_sample((new - samples.reference_velocities).square())
        return LossTerms(loss=loss + spec.kl_coefficient * distance, kl=distance.detach())

    def _error(self, samples: ForwardProcessBatch, velocities: torch.Tensor) -> torch.Tensor:
        """L± of `velocities` (B, ...), (B,)."""
        deviation = samples.noisy - samples.per_element(samples.sigmas) * velocities - samples.clean
        divisor = mean_over_sample(deviation.detach().abs()).clamp(min=MIN_DIVISOR)
        return mean_over_sample(deviation.square()) / divisor


def old_policy_share(spec: DiffusionNftSpec, num_optimizer_steps: int) -> float:
    """d, the share of itself that the old policy keeps at the end of a batch: min(rate × steps since the hold, cap).

    Args:
        spec: holds rate, hold and cap.
        num_optimizer_steps: steps taken since the run began.
    """
    return min(spec.old_decay_rate * max(num_optimizer_steps - spec.old_decay_hold, 0), spec.old_decay_cap)
