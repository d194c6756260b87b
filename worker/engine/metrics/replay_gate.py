"""The replay gate: in the first update of a batch, replaying a stored transition must reproduce its sampling.

At staleness 1 the policy that generated the batch is not the one being trained, so the trainer replays with the former.
Errors of the mean and the ratio are both judged: the ratio averages over every dimension of a sample, so it stays near
1 while single elements of the mean are wrong. What of the errors is judged depends on the precision, see
`worker.contracts.replay_bounds`.
"""

import math

from worker.contracts.algorithms.base import Algorithm
from worker.contracts.replay_bounds import QUANTILE, ReplayBounds
from worker.engine.errors import ReplayGateError
from worker.engine.metrics.error_histogram import quantile
from worker.engine.types import UpdateStats

MEAN_ERROR = "mean_error"
"""The key of max |μ_replay − μ_rollout| / std in `UpdateStats.maxima` and in the gate's event, and of the histogram of
all these errors in `UpdateStats.histograms`."""
SQUARED_MEAN_ERROR = "squared_mean_error"
"""The key of the sum of their squares in `UpdateStats.sums`."""
REPLAY_RATIO_DEVIATION = "replay_ratio_deviation"
"""The key of max |ratio − 1| in `UpdateStats.maxima`."""
RMS_ERROR, QUANTILE_ERROR, RATIO_DEVIATION = "rms_error", "quantile_error", "ratio_deviation"
"""Keys in the gate's event: the root mean square of the errors, their `QUANTILE`, and max |ratio − 1|."""

_NAMES = {
    MEAN_ERROR: "max|μ_replay − μ_rollout| / std",
    RMS_ERROR: "its root mean square",
    QUANTILE_ERROR: f"its quantile of {QUANTILE:g}",
    RATIO_DEVIATION: "max|ratio − 1|",
}


def gate_values(stats: UpdateStats) -> dict[str, float]:
    """What the gate reports, as far as it was measured."""
    values = {name: stats.maxima[name] for name in (MEAN_ERROR,) if name in stats.maxima}
    counts = stats.histograms.get(MEAN_ERROR, ())
    if values and sum(counts):
        largest, high = values[MEAN_ERROR], quantile(counts, QUANTILE)
        values[RMS_ERROR] = math.sqrt(stats.sums[SQUARED_MEAN_ERROR] / sum(counts))
        values[QUANTILE_ERROR] = largest if largest < high else high
    if REPLAY_RATIO_DEVIATION in stats.maxima:
        values[RATIO_DEVIATION] = stats.maxima[REPLAY_RATIO_DEVIATION]
    return values


def check_replay_gate(stats: UpdateStats, bounds: ReplayBounds) -> dict[str, float]:
    """Compare the gate's values with their bounds, and return them.

    Args:
        stats: statistics of the batch's first mini-batch in its first epoch, merged over ranks.
        bounds: the spec's.

    Raises:
        ReplayGateError: with all values, when one exceeds its bound or was not measured.
    """
    values = gate_values(stats)
    limits = dict(zip(_NAMES, bounds, strict=True))
    if missing := [name for name in _NAMES if name not in values]:
        raise ReplayGateError(
            f"the replay gate needs {', '.join(f'`{name}`' for name in missing)}, got {sorted(values)}: "
            "the update must replay trajectories that carry their means"
        )
    # Negated, because every comparison with NaN is false and NaN must fail.
    if any(limit is not None and not values[name] <= limit for name, limit in limits.items()):
        raise ReplayGateError(
            f"sampling and replay must agree: {', '.join(_said(name, values[name], limits[name]) for name in _NAMES)}: "
            "rollout and trainer lanes differ in weights, dtype or schedule"
        )
    return values


ROUNDING_SHARE = 0.01
"""The share of clipped pairs from which rounding is worth a warning: fewer lose no gradient that matters."""


def rounding_warning(stats: UpdateStats, algorithm: Algorithm) -> str:
    """What to do about rounding that the algorithm takes for a change of the policy; empty where there is none.

    In the first update of fresh data the policy is the one that drew it: every ratio is 1 but for rounding, and every
    pair that is clipped or masked is so for that alone.

    Args:
        stats: as for `check_replay_gate`, of data at staleness 0.
        algorithm: the run's.
    """
    share, bound = stats.sums.get("clipped", 0.0) / max(stats.num_pairs, 1), algorithm.update_bound
    if bound is None or share < ROUNDING_SHARE:
        return ""
    name, value = bound
    return (
        f"rounding is taken for a change of the policy: {share:.0%} of the first update's pairs are beyond "
        f"`algorithm.{name}` ({value:g}), with ratios off by up to {stats.maxima[RATIO_DEVIATION]:.2g}. Set "
        "`sampling.old_log_probs` to trainer, so that old and new log-probs round alike, or `base_model.dtype` to fp32"
    )


def _said(name: str, value: float, limit: float | None) -> str:
    return f"{_NAMES[name]} is {value:.3g} ({'not judged' if limit is None else f'bound {limit:g}'})"
