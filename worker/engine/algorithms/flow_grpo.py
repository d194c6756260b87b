"""Flow-GRPO (arXiv 2505.05470): the clipped policy gradient of PPO on single denoising steps.

ratio = exp(log-prob - old log-prob); loss = max(-A ratio, -A clip(ratio, 1 ± c)) + beta KL, per pair. Log-probs are
means over the sample's dimensions, which is why clip ranges are far below those of language models.

Stale pairs are clipped around the proximal policy, see `decoupled`: the policy has moved by more than so small a clip
range since the version that drew them, so a clip around that version would leave many of them no gradient.
"""

import torch

from worker.contracts.algorithms import ClippedSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps, LossTerms, ReplayedPairs, with_kl
from worker.engine.algorithms.decoupled import clipped_ratios, weighted


class FlowGrpo:
    """The loss in the module's docstring."""

    def __init__(self, spec: ClippedSpec, weight_cap: float) -> None:
        """`weight_cap` bounds the weights of stale pairs."""
        self._clip_range = spec.clip_range
        self._kl_coefficient = spec.kl_coefficient
        self._weight_cap = weight_cap

    def log_ratios(self, pairs: ReplayedPairs) -> torch.Tensor:
        """log-prob - old log-prob, (B,)."""
        return pairs.log_probs - pairs.old_log_probs

    def terms(self, pairs: ReplayedPairs) -> LossTerms:
        """The loss and ratio of each pair, and whether it was clipped.

        Raises:
            ValueError: when the spec wants a KL penalty and `pairs.kl` is missing.
        """
        log_ratios = self.log_ratios(pairs)
        loss, clipped = clipped_loss(clipped_ratios(log_ratios, pairs), pairs.advantages, self._clip_range)
        loss = with_kl(weighted(loss, pairs, self._weight_cap), pairs, self._kl_coefficient)
        return LossTerms(loss=loss, ratio=torch.exp(log_ratios.detach()), clipped=clipped)


def clipped_loss(ratio: torch.Tensor, advantages: torch.Tensor, clip_range: float) -> tuple[torch.Tensor, torch.Tensor]:
    """PPO's pessimistic loss of each pair, and whether its ratio lies outside 1 ± `clip_range`; both (B,)."""
    bounded = ratio.clamp(1 - clip_range, 1 + clip_range)
    loss = torch.maximum(-advantages * ratio, -advantages * bounded)
    return loss, (ratio.detach() - 1).abs() > clip_range


def every_step(spec: object, sampling: SamplingSpec, position: GroupPosition) -> GroupSteps:
    """All of `sampling.sde_indices` are stochastic and trained."""
    return GroupSteps(stochastic=sampling.sde_indices, trained=sampling.sde_indices)
