"""Merges the statistics of trainer ranks and converts them to the metrics of `worker.contracts.metric_names`."""

import math
from collections.abc import Iterable

from worker.contracts.metric_names import Metric
from worker.engine.metrics.error_histogram import merged
from worker.engine.types import UpdateStats

RATIO_DEVIATION = "ratio_deviation"
"""The key of max |ratio − 1| in `UpdateStats.maxima`, with the ratio that the loss uses."""

MEANS: dict[str, Metric] = {
    "loss": Metric.LOSS,
    "kl": Metric.KL,
    "ratio": Metric.RATIO_MEAN,
    "clipped": Metric.CLIP_FRACTION,
}
"""By key of `UpdateStats.sums`: the metric that is its mean over pairs."""


def merge_stats(parts: Iterable[UpdateStats]) -> UpdateStats:
    """Statistics of several calls or ranks as one: sums and counts are added, maxima compared."""
    num_pairs, sums, maxima = 0, dict[str, float](), dict[str, float]()
    histograms: dict[str, tuple[int, ...]] = {}
    for part in parts:
        num_pairs += part.num_pairs
        for name, value in part.sums.items():
            sums[name] = sums.get(name, 0.0) + value
        for name, value in part.maxima.items():
            maxima[name] = max(maxima.get(name, value), value, key=_nan_first)
        for name, counts in part.histograms.items():
            histograms[name] = merged([histograms.get(name, ()), counts])
    return UpdateStats(num_pairs=num_pairs, sums=sums, maxima=maxima, histograms=histograms)


def update_metrics(stats: UpdateStats) -> dict[str, float]:
    """Means over pairs, by metric name; metrics that were not measured are absent. Raises `ValueError` for statistics
    of no pairs."""
    if stats.num_pairs < 1:
        raise ValueError("`num_pairs` must be ≥ 1, got 0: no pair was trained, so there is no mean to report")
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
    """A sort key with which NaN is the largest: plain `max` may drop NaN, so that a broken rank would pass the gate."""
    return math.isnan(value), value
