"""What goes into an algorithm and what comes out, per (trajectory, denoising step) pair."""

from dataclasses import dataclass
from typing import Protocol

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPairs:
    """B pairs, replayed under the current policy; every field (B,) fp32."""

    log_probs: torch.Tensor
    """Under the current policy; carries the gradient."""
    old_log_probs: torch.Tensor
    """Under the behaviour policy, as stored at sampling."""
    advantages: torch.Tensor
    kl: torch.Tensor | None
    """To the reference policy, with gradient; `None` where the algorithm asked for none."""
    is_stale: bool
    """Whether the behaviour policy is of an older version than the batch is trained on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTerms:
    """Per pair, (B,): `loss` carries the gradient, the rest is for the curves."""

    loss: torch.Tensor
    ratio: torch.Tensor
    clipped: torch.Tensor


class Algorithm(Protocol):
    @property
    def needs_reference(self) -> bool:
        """Whether replay must also run the LoRA-disabled reference."""
        ...

    def terms(self, pairs: ReplayedPairs) -> PairTerms: ...
