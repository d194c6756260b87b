"""The replay gate: on the first update of a batch, sampling and replay must be the same policy.

The policy that drew stale data is not the one being trained; the trainer then replays with the one that drew. Both
bounds are needed: the ratio averages over every dimension of a sample, so it stays near 1 while single elements of the
mean are off; the mean error looks at each element.
"""

from worker.contracts.sections import ReplayBounds
from worker.engine.errors import ReplayGateError
from worker.engine.types import UpdateStats

MEAN_ERROR = "mean_error"
REPLAY_RATIO_DEVIATION = "replay_ratio_deviation"
RATIO_DEVIATION = "ratio_deviation"
"""As the gate's event names it."""


def gate_figures(stats: UpdateStats) -> dict[str, float]:
    """What the gate goes by, as far as it was measured."""
    measured = {MEAN_ERROR: stats.maxima.get(MEAN_ERROR), RATIO_DEVIATION: stats.maxima.get(REPLAY_RATIO_DEVIATION)}
    return {name: value for name, value in measured.items() if value is not None}


def check_replay_gate(stats: UpdateStats, bounds: ReplayBounds) -> dict[str, float]:
    """The gate's two figures, when they hold.

    Args:
        stats: of the batch's first mini-batch in its first epoch, merged over ranks.
        bounds: the spec's.

    Raises:
        ReplayGateError: with both figures, when one is beyond its bound or was not measured.
    """
    figures = gate_figures(stats)
    if len(figures) < 2:
        raise ReplayGateError(
            f"the replay gate needs `{MEAN_ERROR}` and `{REPLAY_RATIO_DEVIATION}`, got {sorted(stats.maxima)}: "
            "the update did not replay trajectories that carry their means"
        )
    mean_error, ratio_error = figures[MEAN_ERROR], figures[RATIO_DEVIATION]
    # Written so that NaN fails.
    if not (mean_error <= bounds.mean_error and ratio_error <= bounds.ratio_error):
        raise ReplayGateError(
            "sampling and replay must agree: "
            f"max|μ_replay − μ_rollout| / std is {mean_error:.3g} (bound {bounds.mean_error:g}), "
            f"max|ratio − 1| is {ratio_error:.3g} (bound {bounds.ratio_error:g}): "
            "rollout and trainer lanes differ in weights, dtype or schedule"
        )
    return figures
