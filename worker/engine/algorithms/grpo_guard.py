"""GRPO-Guard (arXiv 2510.22319): the log-ratio of every denoising step is centred and brought to one scale.

With b = mean((mean - old mean)²) / (2 std²), log-prob - old log-prob + b is linear in the shift of the mean and 0 on
average; times std it no longer grows as the noise shrinks. ratio = exp((log-prob - old log-prob + b) std);
loss = max(-A ratio, -A clip(ratio, 1 ± c)) / (-dt) + beta KL, where the division by -dt gives all denoising steps the
same weight.
"""

import torch

from worker.contracts.algorithms import GrpoGuardSpec
from worker.engine.algorithms.base import LossTerms, ReplayedPairs, require_old_means, with_kl
from worker.engine.algorithms.flow_grpo import clipped_loss


class GrpoGuard:
    """The loss in the module's docstring."""

    def __init__(self, spec: GrpoGuardSpec) -> None:
        self._spec = spec

    def terms(self, pairs: ReplayedPairs) -> LossTerms:
        """The loss and centred ratio of each pair, and whether it was clipped. Raises `ValueError` when old means or KL
        are needed and missing."""
        old = require_old_means(pairs)
        ratio = torch.exp((pairs.log_probs - pairs.old_log_probs + old.divergences) * old.stds)
        loss, clipped = clipped_loss(ratio, pairs.advantages, self._spec.clip_range)
        loss = with_kl(loss / old.step_sizes, pairs, self._spec.kl_coefficient)
        return LossTerms(loss=loss, ratio=ratio.detach(), clipped=clipped)
