"""How exactly a replay must reproduce sampling: the `replay_gate` section of a `RunSpec`, and the usual bounds.

The error of one element is |μ_replay − μ_rollout| / std, in standard deviations of the denoising step's noise. In fp32
its maximum is judged. In bf16 a batch has up to 10⁹ elements, whose maximum says how many there were rather than how
far replay and rollout differ: there the root mean square is judged and the quantile that 1 of `1 / (1 − QUANTILE)`
elements exceeds, and the maximum is only reported.
"""

from typing import Literal, NamedTuple

from worker.contracts.base import Contract
from worker.contracts.spec_bounds import PositiveCoefficient

QUANTILE = 0.999
"""The share of elements whose error `quantile_error` bounds. A wrong kernel or mask spoils whole tokens or channels,
which are more than a thousandth of the elements; the rounding of single ones is less."""


class ReplayBounds(NamedTuple):
    """The bounds of the replay gate: an update beyond any of them fails the run. `None`: reported, not judged."""

    mean_error: float | None
    """Of the largest error."""
    rms_error: float | None
    """Of the root mean square of the errors."""
    quantile_error: float | None
    """Of the error that all but a share of `1 − QUANTILE` of the elements stay within."""
    ratio_error: float
    """Of the largest |ratio − 1|."""


class ReplayGateSpec(Contract):
    """The check before the first update on each batch: replaying the stored denoising steps in training must give what
    rollout computed. A run beyond a bound fails, because rollout and trainer lanes then differ in weights, precision or
    schedule, and would train on wrong ratios. Errors are |μ_replay − μ_rollout| / std of each element: how far the mean
    of a replayed denoising step lies from the one that rollout computed, in standard deviations of its noise."""

    max_mean_error: PositiveCoefficient | None = None
    """Bound on the largest error of all elements. Empty: 0.001 in fp32; in bf16 it is reported and not judged, since
    the largest of a billion rounding errors grows with their number. Raise it only when the difference is known to be
    rounding."""
    max_rms_error: PositiveCoefficient | None = None
    """Bound on the root mean square of the errors. Empty: 0.02 in bf16, where another size of batch already rounds
    differently; in fp32 the largest error is judged instead."""
    max_quantile_error: PositiveCoefficient | None = None
    """Bound on the error that 999 of 1000 elements stay within. Empty: 0.1 in bf16; in fp32 the largest error is judged
    instead."""
    max_ratio_error: PositiveCoefficient | None = None
    """Bound on max|ratio − 1| of replayed denoising steps, where 1 means that rollout and training agree. Empty: 0.0001
    in fp32 and 0.01 in bf16. It averages over all dimensions of a sample, so it is the weakest of the bounds."""

    def bounds(self, dtype: Literal["fp32", "bf16"]) -> ReplayBounds:
        """The bounds for a model that computes in `dtype`: those given, else the usual ones."""
        usual = FP32_BOUNDS if dtype == "fp32" else BF16_BOUNDS
        given = (self.max_mean_error, self.max_rms_error, self.max_quantile_error, self.max_ratio_error)
        pairs = zip(given, usual, strict=True)
        return ReplayBounds._make(default if own is None else own for own, default in pairs)


FP32_BOUNDS = ReplayBounds(1e-3, None, None, 1e-4)
"""Rounding in fp32 stays below 1e-4 in every family's tiny model (`tests/engine/models`); a LoRA that is off by one
optimizer step does not."""
BF16_BOUNDS = ReplayBounds(None, 0.02, 0.1, 0.01)
"""Of a spec that gives none of its own; presets of families that `make bench-gpu` has measured do. They stand on the
tiny models of all families in bf16 on a CPU, where rollout drew 4 samples at once and training replayed 3 (23 November
2026): 0 where a batch's size does not change the kernels, else a root mean square of 0.0008 to 0.0021 with `flow`,
0.0033 to 0.0057 with `dance` and 0.0015 to 0.0029 with `cps`, a quantile of up to 0.048, a largest error of up to
0.061, and ratios off by up to 0.0007. The bounds are 3.5, 2 and 15 times the largest. `cps` on every step of SD3 is
beyond them, at 0.05 and 0.6, as it was beyond the former bound on the largest error: its schedule ends at a sigma whose
noise is as small as the rounding."""
