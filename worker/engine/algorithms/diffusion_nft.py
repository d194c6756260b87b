"""DiffusionNFT (arXiv 2509.16117): reinforcement on the forward process, with neither SDE nor stored trajectory.

A finished sample is noised anew. r = 1/2 + clip(A / A_max, ±1) / 2 says how good it is; v+ = beta v + (1 - beta) v_old
and v- = (1 + beta) v_old - beta v are the good and the bad policy that the trained one implies. Each guesses the
sample, x0± = x - sigma v±, and is judged by L± = mean((x0± - x0)²) / mean|x0± - x0|, the divisor held constant and at
least 1e-5. loss = (r L+ + (1 - r) L-) A_max / beta + c mean((v - v_reference)²).

The old policy generates; after each batch it follows the trained one, keeping a share d of itself.
"""

import torch

from worker.contracts.algorithms import DiffusionNftSpec
from worker.engine.algorithms.base import ForwardProcessBatch, LossTerms, mean_over_sample

MIN_DIVISOR = 1e-5


class DiffusionNft:
    def __init__(self, spec: DiffusionNftSpec) -> None:
        self._spec = spec

    def terms(self, samples: ForwardProcessBatch) -> LossTerms:
        """Loss of each sample. Raises `ValueError` for velocities that are needed and missing."""
        spec, old, new = self._spec, samples.old_velocities, samples.velocities
        if old is None:
            raise ValueError("`old_velocities` must be given: the implied policies lie to both sides of the old one")
        optimality = 0.5 + 0.5 * (samples.advantages / spec.advantage_clip).clamp(-1, 1)
        good = self._error(samples, spec.beta * new + (1 - spec.beta) * old)
        bad = self._error(samples, (1 + spec.beta) * old - spec.beta * new)
        loss = (optimality * good + (1 - optimality) * bad) * spec.advantage_clip / spec.beta
        if not spec.kl_coefficient:
            return LossTerms(loss=loss)
        if samples.reference_velocities is None:
            raise ValueError("`reference_velocities` must be given when `algorithm.kl_coefficient` is above 0")
        distance = mean_over_sample((new - samples.reference_velocities).square())
        return LossTerms(loss=loss + spec.kl_coefficient * distance, kl=distance.detach())

    def _error(self, samples: ForwardProcessBatch, velocities: torch.Tensor) -> torch.Tensor:
        deviation = samples.noisy - samples.per_element(samples.sigmas) * velocities - samples.clean
        divisor = mean_over_sample(deviation.detach().abs()).clamp(min=MIN_DIVISOR)
        return mean_over_sample(deviation.square()) / divisor


def kept_share(spec: DiffusionNftSpec, num_optimizer_steps: int) -> float:
    """What the old adapter keeps of itself at the end of a batch: min(rate × steps since the hold, cap)."""
    return min(spec.old_decay_rate * max(num_optimizer_steps - spec.old_decay_hold, 0), spec.old_decay_cap)
