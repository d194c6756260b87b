"""Flow-GRPO (arXiv 2505.05470): the clipped policy gradient of PPO on single denoising steps.

ratio = exp(log-prob - old log-prob); loss = max(-A ratio, -A clip(ratio, 1 ± c)) + beta KL, per pair. Log-probs are
means over the sample's dimensions, which is why clip ranges are far below those of language models.
"""

import torch

from worker.contracts.sections import FlowGrpoSpec
from worker.engine.algorithms.base import PairTerms, ReplayedPairs


class FlowGrpo:
    def __init__(self, spec: FlowGrpoSpec) -> None:
        self._clip_range = spec.clip_range
        self._kl_coefficient = spec.kl_coefficient

    @property
    def needs_reference(self) -> bool:
        return self._kl_coefficient > 0

    def terms(self, pairs: ReplayedPairs) -> PairTerms:
        """Loss, ratio and whether the clip range was left, per pair.

        Raises:
            ValueError: when the spec wants a KL penalty and `pairs.kl` is missing.
        """
        ratio = torch.exp(pairs.log_probs - pairs.old_log_probs)
        bounded = ratio.clamp(1 - self._clip_range, 1 + self._clip_range)
        loss = torch.maximum(-pairs.advantages * ratio, -pairs.advantages * bounded)
        if self.needs_reference:
            if pairs.kl is None:
                raise ValueError("`kl` must be given when `algorithm.kl_coefficient` is above 0")
            loss = loss + self._kl_coefficient * pairs.kl
        detached = ratio.detach()
        return PairTerms(loss=loss, ratio=detached, clipped=(detached - 1).abs() > self._clip_range)
