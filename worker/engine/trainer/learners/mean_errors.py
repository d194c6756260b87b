"""The replay gate's errors of one micro-batch, reduced on the device: their largest, their squares, and a histogram."""

import math
from dataclasses import dataclass

import torch

from worker.engine.metrics.error_histogram import BINS_PER_OCTAVE, LOWEST, NUM_BINS

NUM_AT_ONCE = 2**22
"""Elements that are sorted into bins at once: their indices take 8 bytes each, so 32 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanErrors:
    """|μ_replay − μ_rollout| / std of all elements of a micro-batch."""

    largest: torch.Tensor
    """Scalar; NaN where one of the errors is."""
    sum_of_squares: torch.Tensor
    """Scalar."""
    counts: torch.Tensor
    """(NUM_BINS,) int64: how many errors lie in each bin of `worker.engine.metrics.error_histogram`."""

    @classmethod
    @torch.no_grad()
    def of(cls, errors: torch.Tensor) -> "MeanErrors":
        """Of `errors` (B, ...) ≥ 0, without waiting for the device."""
        counts = errors.new_zeros(NUM_BINS, dtype=torch.int64)
        for part in errors.flatten().split(NUM_AT_ONCE):
            bins = bin_indices(part)
            counts.scatter_add_(0, bins, torch.ones_like(bins))
        return cls(largest=errors.max(), sum_of_squares=errors.square().sum(), counts=counts)


def bin_indices(errors: torch.Tensor) -> torch.Tensor:
    """(N,) int64: the bin of each error, such that it is at most the bin's upper edge."""
    octaves = torch.log2(errors.nan_to_num(nan=math.inf)) - math.log2(LOWEST)
    return (octaves * BINS_PER_OCTAVE).ceil().clamp(0, NUM_BINS - 1).long()
