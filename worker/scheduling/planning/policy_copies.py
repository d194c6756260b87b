"""The policies that a trainer lane keeps copies of, by what a spec asks for."""

from dataclasses import dataclass

from worker.contracts.algorithms import DiffusionNftSpec
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCopies:
    """The policies that a trainer lane holds beside the one it trains."""

    reference: bool = False
    """A reference policy. Only full tuning needs a copy: LoRA's reference is the base with the adapter off."""
    stale: bool = False
    """The policy that generated a batch which is trained one version later; then the proximal one."""
    second: bool = False
    """DiffusionNFT's older policy."""
    before_update: bool = False
    """The weights before a batch's first update, which recompute old log-probs."""
    num_shadow_copies: int = 0
    """The number of fp32 shadow weights: the EMA, and those that DiffusionNFT's older policy is made from."""
    publishes_two: bool = False
    """A version holds two sets of weights: those that generate, and those that are evaluated."""

    @classmethod
    def of(cls, spec: RunSpec) -> "PolicyCopies":
        has_ema, has_older_policy = bool(spec.ema.decay), isinstance(spec.algorithm, DiffusionNftSpec)
        return cls(
            reference=spec.tuning is Tuning.FULL and spec.algorithm.needs.reference,
            stale=bool(spec.pipeline.max_staleness),
            second=spec.algorithm.needs.second_adapter,
            before_update=spec.replays_before_update,
            num_shadow_copies=has_ema + has_older_policy,
            publishes_two=has_ema or has_older_policy,
        )

    @property
    def older(self) -> bool:
        """Whether the lane holds an older policy; all of them share one copy."""
        return self.stale or self.second or self.before_update
