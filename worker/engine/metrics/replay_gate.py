"""The replay gate: in the first update of a batch, replaying a stored transition must reproduce its sampling.

At staleness 1 the policy that generated the batch is not the one being trained, so the trainer replays with the former.
Both bounds are needed: the ratio averages over every dimension of a sample, so it stays near 1 while single elements of
the mean are wrong; the mean error compares each element.
"""

from worker.contracts.sections import ReplayBounds
from worker.engine.errors import ReplayGateError
from worker.engine.types import UpdateStats

MEAN_ERROR = "mean_error"
"""The key of max |μ_replay − μ_rollout| / std, in `UpdateStats.maxima` and in the gate's event."""
REPLAY_RATIO_DEVIATION = "replay_ratio_deviation"
"""The key of max |ratio − 1| in `UpdateStats.maxima`."""
RATIO_DEVIATION = "ratio_deviation"
"""The key of max |ratio − 1| in the gate's event."""


def gate_values(stats: UpdateStats) -> dict[str, float]:
    """The values that the gate compares with its bounds, as far as they were measured."""
    measured = {MEAN_ERROR: stats.maxima.get(MEAN_ERROR), RATIO_DEVIATION: stats.maxima.get(REPLAY_RATIO_DEVIATION)}
    return {name: value for name, value in measured.items() if value is not None}


def check_replay_gate(stats: UpdateStats, bounds: ReplayBounds) -> dict[str, float]:
    """Compare the gate's values with their bounds, and return them.

    Args:
        stats: statistics of the batch's first mini-batch in its first epoch, merged over ranks.
        bounds: the spec's.

    Raises:
        ReplayGateError: with both values, when one exceeds its bound or was not measured.
    """
    values = gate_values(stats)
    if len(values) < 2:
        raise ReplayGateError(
            f"the replay gate needs `{MEAN_ERROR}` and `{REPLAY_RATIO_DEVIATION}`, got {sorted(stats.maxima)}: "
            "the update must replay trajectories that carry their means"
        )
    mean_error, ratio_error = values[MEAN_ERROR], values[RATIO_DEVIATION]
    # Negated, because every comparison with NaN is false and NaN must fail.
    if not (mean_error <= bounds.mean_error and ratio_error <= bounds.ratio_error):
        raise ReplayGateError(
            "sampling and replay must agree: "
            f"max|μ_replay − μ_rollout| / std is {mean_error:.3g} (bound {bounds.mean_error:g}), "
            f"max|ratio − 1| is {ratio_error:.3g} (bound {bounds.ratio_error:g}): "
            "rollout and trainer lanes differ in weights, dtype or schedule"
        )
    return values
