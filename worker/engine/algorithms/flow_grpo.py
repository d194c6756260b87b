"""Flow-GRPO (arXiv 2505.05470): the clipped policy gradient of PPO on single denoising steps.

ratio = exp(log-prob - old log-prob); loss = max(-A ratio, -A clip(ratio, 1 ± c)) + beta KL, per pair. Log-probs are
means over the sample's dimensions, which is why clip ranges are far below those of language models.

With an importance cap, stale pairs are corrected instead of clipped: their loss is the policy gradient weighted by the
truncated ratio, -min(ratio, cap) A log-prob with the weight detached (AIPO of LlamaRL, arXiv 2505.24034). PPO's clip
would give many of them no gradient, since the policy has moved since the version that drew them.
"""

import torch

from worker.contracts.algorithms import ClippedSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.algorithms.base import GroupPosition, GroupSteps, LossTerms, ReplayedPairs, with_kl


class FlowGrpo:
    """The loss in the module's docstring."""

    def __init__(self, spec: ClippedSpec, importance_cap: float | None = None) -> None:
        """Without an `importance_cap` stale pairs are clipped like fresh ones."""
        self._clip_range = spec.clip_range
        self._kl_coefficient = spec.kl_coefficient
        self._importance_cap = importance_cap

    def terms(self, pairs: ReplayedPairs) -> LossTerms:
        """The loss and ratio of each pair, and whether the ratio was clipped or truncated.

        Raises:
            ValueError: when the spec wants a KL penalty and `pairs.kl` is missing.
        """
        ratio = torch.exp(pairs.log_probs - pairs.old_log_probs)
        detached = ratio.detach()
        if pairs.is_stale and self._importance_cap is not None:
            loss = -detached.clamp(max=self._importance_cap) * pairs.advantages * pairs.log_probs
            clipped = detached > self._importance_cap
        else:
            loss, clipped = clipped_loss(ratio, pairs.advantages, self._clip_range)
        return LossTerms(loss=with_kl(loss, pairs, self._kl_coefficient), ratio=detached, clipped=clipped)


def clipped_loss(ratio: torch.Tensor, advantages: torch.Tensor, clip_range: float) -> tuple[torch.Tensor, torch.Tensor]:
    """PPO's pessimistic loss of each pair, and whether its ratio lies outside 1 ± `clip_range`; both (B,)."""
    bounded = ratio.clamp(1 - clip_range, 1 + clip_range)
    loss = torch.maximum(-advantages * ratio, -advantages * bounded)
    return loss, (ratio.detach() - 1).abs() > clip_range


def every_step(spec: object, sampling: SamplingSpec, position: GroupPosition) -> GroupSteps:
    """All of `sampling.sde_indices` are stochastic and trained."""
    return GroupSteps(stochastic=sampling.sde_indices, trained=sampling.sde_indices)
