"""Flow-DPPO (arXiv 2606.11025): the policy gradient without a clip, silenced by divergence instead of by ratio.

D = mean((mean - old mean)²) / (2 std²). A pair with D ≥ bound whose gradient would lead further away (A > 0 and
ratio > 1, or A < 0 and ratio < 1) contributes nothing; one that leads back does. Otherwise loss = -A ratio + beta KL.
"""

import torch

from worker.contracts.algorithms import FlowDppoSpec
from worker.engine.algorithms.base import LossTerms, ReplayedPairs, require_old_means, with_kl


class FlowDppo:
    def __init__(self, spec: FlowDppoSpec) -> None:
        self._spec = spec

    def terms(self, pairs: ReplayedPairs) -> LossTerms:
        """Loss, ratio and whether the pair was silenced. Raises `ValueError` for missing old means or KL."""
        divergences = require_old_means(pairs).divergences.detach()
        ratio = torch.exp(pairs.log_probs - pairs.old_log_probs)
        leads_away = pairs.advantages * (ratio.detach() - 1) > 0
        silenced = leads_away & (divergences >= self._spec.divergence_bound)
        loss = torch.where(silenced, 0.0, -pairs.advantages * ratio)
        return LossTerms(loss=with_kl(loss, pairs, self._spec.kl_coefficient), ratio=ratio.detach(), clipped=silenced)
