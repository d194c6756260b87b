"""Sums of the trainer ranks as points on the curves of `worker.contracts.metric_names`."""

import math
from collections.abc import Iterable

from worker.contracts.metric_names import Metric
from worker.engine.types import UpdateStats

RATIO_DEVIATION = "ratio_deviation"

MEANS: dict[str, Metric] = {
    "loss": Metric.LOSS,
    "kl": Metric.KL,
    "ratio": Metric.RATIO_MEAN,
    "clipped": Metric.CLIP_FRACTION,
}


def merge_stats(parts: Iterable[UpdateStats]) -> UpdateStats:
    """Add up sums and take the larger maxima: over ranks, over groups, over mini-batches."""
    num_pairs, sums, maxima = 0, dict[str, float](), dict[str, float]()
    for part in parts:
        num_pairs += part.num_pairs
        for name, value in part.sums.items():
            sums[name] = sums.get(name, 0.0) + value
        for name, value in part.maxima.items():
            maxima[name] = max(maxima.get(name, value), value, key=_nan_first)
    return UpdateStats(num_pairs=num_pairs, sums=sums, maxima=maxima)


def update_metrics(stats: UpdateStats) -> dict[str, float]:
    """Means over pairs, by metric name; what was not measured is absent. Raises `ValueError` for no pairs at all."""
    if stats.num_pairs < 1:
        raise ValueError("`num_pairs` must be ≥ 1, got 0: nothing was trained, so there is nothing to report")
    counts = {"kl": stats.sums.get("kl_pairs", 0.0)}
    metrics = {
        MEANS[name].value: value / counts.get(name, stats.num_pairs)
        for name, value in stats.sums.items()
        if name in MEANS
    }
    if RATIO_DEVIATION in stats.maxima:
        metrics[Metric.RATIO_MAX_DEVIATION.value] = stats.maxima[RATIO_DEVIATION]
    return metrics


def _nan_first(value: float) -> tuple[bool, float]:
    """An order in which NaN is the largest: plain `max` would drop it and let a broken rank pass the gate."""
    return math.isnan(value), value
