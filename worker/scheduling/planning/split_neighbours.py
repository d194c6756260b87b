"""Where a search among the proposed splits of a pool starts, and which splits are next to each other.

Pure: limits of splits in, splits out; nothing is simulated here.
"""

import math
from collections.abc import Mapping

from worker.scheduling.planning.mode_limits import Split

# What is said of plans below was measured on 12 cases of `tests.bench.pipeline` (testbeds B and A+C, and FLUX and
# Qwen-Image on A and C), by simulating 16 batches of each plan's best, lending and staleness 1 candidates.
_NUM_FRAGMENT_SIZES_TRIED = 3
"""The fragment sizes that are expected to be the best, from each of which a search starts. With 1 plans are up to 5.5 %
slower, in a third of the time; with 6 one is 1.4 % faster, in 70 % more time. Measured with sizes in the order of their
limits, which at staleness 0 and without lending is the same."""
_NEAR = 0.03
"""Relative difference within which limits do not distinguish splits. With 0 plans are up to 1.1 % slower or faster,
0.04 % slower on average; with 0.1 they are up to 1.8 % slower, 0.2 % on average."""


class Neighbours:
    """The proposed splits of one fragment size by their number of trainers."""

    def __init__(self, limits: Mapping[Split, float], fragment_size: int) -> None:
        self._limits = limits
        self._by_number: dict[int, list[Split]] = {}
        for split in limits:
            if split.fragment_size == fragment_size:
                self._by_number.setdefault(split.num_trainer, []).append(split)

    def of(self, split: Split, step: int) -> list[Split]:
        """With `step` trainers fewer or more, the split that changes the fewest roles and the one with the best
        limit."""
        found: dict[Split, None] = {}
        for number in (split.num_trainer - step, split.num_trainer + step):
            splits = self._by_number.get(number, [])
            if splits:
                found[min(splits, key=lambda other: (split.distance(other), other))] = None
                found[min(splits, key=lambda other: (self._limits[other], other))] = None
        return list(found)


def starts_of_climbs(
    limits: Mapping[Split, float], expected: Mapping[Split, float], without_lending: Mapping[Split, float]
) -> list[list[Split]]:
    """For each of the fragment sizes that are expected to be the best, splits to start from: the one that is expected
    to be the fastest, and of those whose limit is near that size's best the one that needs lending least, and the ones
    with the middle, the fewest and the most trainers. The limits of modes that lend hardly differ between splits, so
    the best of them alone says little."""
    by_size: dict[int, list[Split]] = {}
    # Of sizes for which the same is expected the largest comes first, which has the fewest fragments to simulate.
    for split in sorted(limits, key=lambda split: (round(math.log(expected[split]), 9), -split.fragment_size, split)):
        by_size.setdefault(split.fragment_size, []).append(split)
    starts = list[list[Split]]()
    for splits in list(by_size.values())[:_NUM_FRAGMENT_SIZES_TRIED]:
        least = min(limits[split] for split in splits)
        near = [split for split in splits if limits[split] <= (1 + _NEAR) * least]
        first = min(near, key=lambda split: (without_lending.get(split, math.inf), limits[split], split))
        near.sort(key=lambda split: (split.num_trainer, limits[split], split))
        starts.append(list(dict.fromkeys([splits[0], first, near[len(near) // 2], near[0], near[-1]])))
    return starts
