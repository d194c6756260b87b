"""GRPO-Guard (arXiv 2510.22319): the log-ratio of every denoising step is centred and brought to one scale.

With b = mean((mean - old mean)²) / (2 std²), log-prob - old log-prob + b is linear in the shift of the mean and 0 on
average; times std it no longer grows as the noise shrinks. ratio = exp((log-prob - old log-prob + b) std);
loss = max(-A ratio, -A clip(ratio, 1 ± c)) / (-dt) + beta KL, where the division by -dt gives all denoising steps the
same weight. Stale pairs are clipped around the proximal policy, see `decoupled`: the difference of two such log-ratios
is linear in the shift of the mean from the proximal one, and 0 on average as well.
"""

import torch

from worker.contracts.algorithms import GrpoGuardSpec
from worker.engine.algorithms.base import LossTerms, ReplayedPairs, require_old_means, with_kl
from worker.engine.algorithms.decoupled import clipped_ratios, weighted
from worker.engine.algorithms.flow_grpo import clipped_loss


class GrpoGuard:
    """The loss in the module's docstring."""

    def __init__(self, spec: GrpoGuardSpec, weight_cap: float) -> None:
        """`weight_cap` bounds the weights of stale pairs."""
        self._spec = spec
        self._weight_cap = weight_cap

    def log_ratios(self, pairs: ReplayedPairs) -> torch.Tensor:
        """(log-prob - old log-prob + b) std, (B,). Raises `ValueError` when old means are missing."""
        old = require_old_means(pairs)
        return (pairs.log_probs - pairs.old_log_probs + old.divergences) * old.stds

    def terms(self, pairs: ReplayedPairs) -> LossTerms:
        """The loss and centred ratio of each pair, and whether it was clipped. Raises `ValueError` when old means or KL
        are needed and missing."""
        log_ratios = self.log_ratios(pairs)
        loss, clipped = clipped_loss(clipped_ratios(log_ratios, pairs), pairs.advantages, self._spec.clip_range)
        loss = weighted(loss / require_old_means(pairs).step_sizes, pairs, self._weight_cap)
        loss = with_kl(loss, pairs, self._spec.kl_coefficient)
        return LossTerms(loss=loss, ratio=torch.exp(log_ratios.detach()), clipped=clipped)
