"""Errors counted in bins, so that a quantile of any number of them takes bounded memory and ranks can be merged.

Bins are logarithmic: the first holds errors up to `LOWEST`, the last what lies beyond all others, NaN among it.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest

BINS_PER_OCTAVE = 8
"""A quantile is read off at a bin's upper edge, so it is at most 9 % too high (2^⅛)."""
LOWEST, NUM_OCTAVES = 2.0**-24, 32
"""From the rounding of fp32 to 256 standard deviations."""
NUM_BINS = BINS_PER_OCTAVE * NUM_OCTAVES + 2

ErrorCounts = Sequence[int]
"""How many errors lie in each bin; bins that are left out at the end are empty."""


def quantile(counts: ErrorCounts, share: float) -> float:
    """The smallest upper edge of a bin that `share` of all errors stay within; infinite in the last bin.

    Raises:
        ValueError: when nothing was counted.
    """
    total = sum(counts)
    if not total:
        raise ValueError("`counts` must hold at least one error, got none: the quantile of nothing is not defined")
    within = 0
    for index, count in enumerate(counts):
        within += count
        if within >= share * total:
            return upper_edge(index)
    return math.inf


def upper_edge(index: int) -> float:
    """The largest error that belongs into bin `index`."""
    return math.inf if index >= NUM_BINS - 1 else LOWEST * 2.0 ** (index / BINS_PER_OCTAVE)


def merged(parts: Iterable[ErrorCounts]) -> tuple[int, ...]:
    """The counts of several calls or ranks as one."""
    return tuple(sum(column) for column in zip_longest(*parts, fillvalue=0))
