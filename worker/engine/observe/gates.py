"""The replay gate: on the first update of fresh data, sampling and replay must be the same policy.

Both bounds are needed: the ratio averages over every dimension of a sample, so it stays near 1 while single elements
of the mean are off; the mean error looks at each element.
"""

from worker.contracts.sections import ReplayGateSpec
from worker.engine.errors import ReplayGateError
from worker.engine.types import UpdateStats

MEAN_ERROR = "mean_error"
RATIO_DEVIATION = "ratio_deviation"


def check_replay_gate(stats: UpdateStats, spec: ReplayGateSpec) -> dict[str, float]:
    """The gate's two figures, when they hold.

    Args:
        stats: of an `accumulate` with `fresh=True`, merged over ranks; no optimizer step lies between the
            trajectories' policy version and it.
        spec: the bounds.

    Raises:
        ReplayGateError: with both figures, when one is beyond its bound or was not measured.
    """
    figures = {name: stats.maxima.get(name) for name in (MEAN_ERROR, RATIO_DEVIATION)}
    mean_error, ratio_error = figures[MEAN_ERROR], figures[RATIO_DEVIATION]
    if mean_error is None or ratio_error is None:
        raise ReplayGateError(
            f"the replay gate needs `{MEAN_ERROR}` and `{RATIO_DEVIATION}`, got {sorted(stats.maxima)}: "
            "the update did not replay fresh trajectories that carry their means"
        )
    # Written so that NaN fails.
    if not (mean_error <= spec.max_mean_error and ratio_error <= spec.max_ratio_error):
        raise ReplayGateError(
            "sampling and replay must agree on fresh data: "
            f"max|μ_replay − μ_rollout| / std is {mean_error:.3g} (bound {spec.max_mean_error:g}), "
            f"max|ratio − 1| is {ratio_error:.3g} (bound {spec.max_ratio_error:g}): "
            "rollout and trainer lanes differ in weights, dtype or schedule"
        )
    return {MEAN_ERROR: mean_error, RATIO_DEVIATION: ratio_error}
