"""Flow-DPPO (arXiv 2606.11025): the policy gradient without a clip, masked by divergence instead of by ratio.

D = mean((mean - old mean)²) / (2 std²). A pair with D ≥ bound is masked (its loss is beta KL alone) if its gradient
would move the policy further from the old one: A > 0 and ratio > 1, or A < 0 and ratio < 1. Otherwise
loss = -A ratio + beta KL.
"""

import torch

from worker.contracts.algorithms import FlowDppoSpec
from worker.engine.algorithms.base import LossTerms, ReplayedPairs, require_old_means, with_kl


class FlowDppo:
    """The loss in the module's docstring."""

    def __init__(self, spec: FlowDppoSpec) -> None:
        self._spec = spec

    def terms(self, pairs: ReplayedPairs) -> LossTerms:
        """The loss and ratio of each pair, and as `clipped` whether it was masked. Raises `ValueError` when old means
        or KL are needed and missing."""
        divergences = require_old_means(pairs).divergences.detach()
        ratio = torch.exp(pairs.log_probs - pairs.old_log_probs)
        moves_away = pairs.advantages * (ratio.detach() - 1) > 0
        masked = moves_away & (divergences >= self._spec.divergence_bound)
        loss = torch.where(masked, 0.0, -pairs.advantages * ratio)
        return LossTerms(loss=with_kl(loss, pairs, self._spec.kl_coefficient), ratio=ratio.detach(), clipped=masked)
