"""What benches tell of many times."""

from collections.abc import Sequence


def p95(values: Sequence[float]) -> float:
    """The 95th percentile, by nearest rank."""
    return sorted(values)[max(0, round(len(values) * 0.95) - 1)]
