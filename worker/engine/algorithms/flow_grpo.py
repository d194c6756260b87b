"""Flow-GRPO (arXiv 2505.05470): the clipped policy gradient of PPO on single denoising steps.

ratio = exp(log-prob - old log-prob); loss = max(-A ratio, -A clip(ratio, 1 ± c)) + beta KL, per pair. Log-probs are
means over the sample's dimensions, which is why clip ranges are far below those of language models.

With an importance cap, stale pairs are corrected instead of clipped: their loss is the policy gradient weighed by the
truncated ratio, -min(ratio, cap) A log-prob with the weight held constant (AIPO of LlamaRL, arXiv 2505.24034). PPO's
clip would silence a pair as soon as the policy has moved on from the version that drew it.
"""

import torch

from worker.contracts.sections import FlowGrpoSpec
from worker.engine.algorithms.base import PairTerms, ReplayedPairs


class FlowGrpo:
    def __init__(self, spec: FlowGrpoSpec, importance_cap: float | None = None) -> None:
        """`importance_cap`: `None` clips stale pairs like fresh ones."""
        self._clip_range = spec.clip_range
        self._kl_coefficient = spec.kl_coefficient
        self._importance_cap = importance_cap

    @property
    def needs_reference(self) -> bool:
        return self._kl_coefficient > 0

    def terms(self, pairs: ReplayedPairs) -> PairTerms:
        """Loss, ratio and whether the ratio was cut, per pair.

        Raises:
            ValueError: when the spec wants a KL penalty and `pairs.kl` is missing.
        """
        ratio = torch.exp(pairs.log_probs - pairs.old_log_probs)
        detached = ratio.detach()
        if pairs.is_stale and self._importance_cap is not None:
            loss = -detached.clamp(max=self._importance_cap) * pairs.advantages * pairs.log_probs
            cut = detached > self._importance_cap
        else:
            bounded = ratio.clamp(1 - self._clip_range, 1 + self._clip_range)
            loss = torch.maximum(-pairs.advantages * ratio, -pairs.advantages * bounded)
            cut = (detached - 1).abs() > self._clip_range
        if self.needs_reference:
            if pairs.kl is None:
                raise ValueError("`kl` must be given when `algorithm.kl_coefficient` is above 0")
            loss = loss + self._kl_coefficient * pairs.kl
        return PairTerms(loss=loss, ratio=detached, clipped=cut)
