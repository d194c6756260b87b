"""Flow-DPPO (arXiv 2606.11025): the policy gradient without a clip, masked by divergence instead of by ratio.

D = mean((mean - old mean)²) / (2 std²). A pair with D ≥ bound is masked (its loss is beta KL alone) if its gradient
would move the policy further from the old one: A > 0 and ratio > 1, or A < 0 and ratio < 1. Otherwise
loss = -A ratio + beta KL. Of stale pairs, D and ratio are taken from the proximal policy, see `decoupled`: D from the
version that drew them may be beyond the bound before training on them begins.
"""

import torch

from worker.contracts.algorithms import FlowDppoSpec
from worker.engine.algorithms.base import LossTerms, ReplayedPairs, require_old_means, with_kl
from worker.engine.algorithms.decoupled import clipped_ratios, weighted


class FlowDppo:
    """The loss in the module's docstring."""

    def __init__(self, spec: FlowDppoSpec, weight_cap: float) -> None:
        """`weight_cap` bounds the weights of stale pairs."""
        self._spec = spec
        self._weight_cap = weight_cap

    def log_ratios(self, pairs: ReplayedPairs) -> torch.Tensor:
        """log-prob - old log-prob, (B,)."""
        return pairs.log_probs - pairs.old_log_probs

    def terms(self, pairs: ReplayedPairs) -> LossTerms:
        """The loss and ratio of each pair, and as `clipped` whether it was masked. Raises `ValueError` when means or
        KL are needed and missing."""
        log_ratios = self.log_ratios(pairs)
        ratio = clipped_ratios(log_ratios, pairs)
        moves_away = pairs.advantages * (ratio.detach() - 1) > 0
        masked = moves_away & (_divergences(pairs) >= self._spec.divergence_bound)
        loss = weighted(torch.where(masked, 0.0, -pairs.advantages * ratio), pairs, self._weight_cap)
        loss = with_kl(loss, pairs, self._spec.kl_coefficient)
        return LossTerms(loss=loss, ratio=torch.exp(log_ratios.detach()), clipped=masked)


def _divergences(pairs: ReplayedPairs) -> torch.Tensor:
    """D, (B,), without gradient. Raises `ValueError` when the means that it is taken from are missing."""
    if pairs.proximal is None:
        return require_old_means(pairs).divergences.detach()
    if pairs.proximal.divergences is None:
        raise ValueError("`proximal.divergences` must be given: stale pairs are masked by them")
    return pairs.proximal.divergences.detach()
