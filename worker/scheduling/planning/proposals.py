"""The splits of a pool that are worth simulating: those of the exchange argument, improved by moving lanes.

    GangOptions ──► the best gang for each time of a mini-batch, ──► exact limits ──► move or exchange lanes
                    or in step for each slowest kind and size,                        while that helps
                    at several times that a batch may take

The exchange argument holds at the time that a batch takes, which is known only afterwards: lanes that lose nothing by
training at the least time of any option may lose most at the time that their split really takes. Moving lanes asks only
for limits by counts, and makes up for what the argument leaves out (fractions of lanes, commits in another order of
kinds, the first group, ranks that only make up for lent ones). Invariant: the splits depend on how many lanes there are
of each kind, not on how they are listed; their number grows with kinds and lanes, not with the number of splits.
"""

import math
from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import numpy.typing as npt

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.exchange import GangOptions
from worker.scheduling.planning.exchange_by_speed import RanksBySpeed
from worker.scheduling.planning.exchange_in_step import RanksInStep
from worker.scheduling.planning.lane_kinds import Counts, LaneKinds, Seconds
from worker.scheduling.planning.limits import ScheduleRules, batch_limits

_MAX_NUMBERS = 128
"""Numbers of ranks that are tried in a large pool; neighbours of the best are tried afterwards. A pool with no more
splits than that, as one of a single kind, has all of them tried."""
_NUM_IMPROVED = 4
"""The splits from which lanes are moved."""
_NUM_TIMES = 8
"""Times of a batch for which gangs are asked, besides one in which nothing is in short supply."""
_NUM_DISTANCES = 12
"""Numbers of lanes that are moved at once, from 1 to all of a kind in equal ratios. Limits are level where whole units
of training do not change, and the next better split may be many lanes away."""
_MOST_UNEQUAL = 3
"""The most lanes of a kind that are exchanged for another number of a second kind, as one is worth several."""
_IS_LOWER = 1e-6
"""Relative difference from which on a limit counts as lower; it is precise to 1e-9."""


def rank_numbers(num_lanes: int) -> Counts:
    """The numbers of ranks to try, each from 1 to `num_lanes` − 1: all in a small pool, in a large one as many as
    `_MAX_NUMBERS`, of equal ratios where they are few and equal differences where they are many."""
    if num_lanes <= _MAX_NUMBERS:
        return np.arange(1, num_lanes)
    half = _MAX_NUMBERS // 2
    ratios, differences = np.geomspace(1, num_lanes - 1, half), np.linspace(1, num_lanes - 1, half)
    return np.unique(np.rint(np.concatenate([ratios, differences])).astype(np.int64))


def proposed_splits(
    algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds, rules: ScheduleRules, *, lends: bool
) -> tuple[Counts, Seconds]:
    """([split, kind] how many lanes of each kind train, [split] limits), all of which fit in memory.

    `lends`: count memory for trainer lanes that generate too.
    """

    def limits(trainers: Counts) -> Seconds:
        return _limits_within_memory(algebra, costs, kinds, rules, trainers, lends=lends)

    if math.prod((kinds.number + 1).tolist()) <= _MAX_NUMBERS:
        splits = np.indices(tuple((kinds.number + 1).tolist())).reshape(kinds.number.size, -1).T
        seconds = limits(splits)
    else:
        options = gang_options(algebra, costs, kinds, rules, rank_numbers(kinds.num_lanes))
        least = options.least_seconds()
        if math.isinf(least):
            return np.zeros((0, kinds.number.size), dtype=np.int64), np.zeros(0)
        splits = _gangs(options, least, limits)
        seconds = limits(splits)
        starts = splits[_lowest(seconds)]
        starts = np.concatenate([starts, without_a_kind(starts, kinds.number)])
        further = np.unique(improved(starts[_lowest(limits(starts))], limits), axis=0)
        splits, first = np.unique(np.concatenate([splits, further]), axis=0, return_index=True)
        seconds = np.concatenate([seconds, limits(further)])[first]
    return splits[np.isfinite(seconds)], seconds[np.isfinite(seconds)]


def gang_options(
    algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds, rules: ScheduleRules, numbers: Counts
) -> GangOptions:
    """The options of the gang's model. `numbers`: of ranks to try in step, each ≥ 1."""
    if costs.equal_counts:
        return RanksInStep.of(algebra, costs, kinds, rules, numbers)
    return RanksBySpeed.of(algebra, costs, kinds, rules)


def _gangs(options: GangOptions, least: float, limits: Callable[[Counts], Seconds]) -> Counts:
    """The options' best gangs for times of a batch from `least` to the lowest limit of those for twice as long.

    At `least` some options have no time left to compare their losses by, and the best split may be one of theirs.
    """
    gangs = options.gangs(2 * least)
    reached = min(float(limits(gangs).min(initial=np.inf)), _LONGEST * least)
    times = np.geomspace(least, max(least, reached), _NUM_TIMES) if least > 0 else [0.0]
    return np.unique(np.concatenate([gangs, *(options.gangs(float(seconds)) for seconds in times)]), axis=0)


_LONGEST = 1e3
"""Times the least seconds of any option that a batch is taken to last, where no gang has a limit yet."""


def without_a_kind(splits: Counts, number: Counts) -> Counts:
    """The splits with all trainers of one kind left out, or exchanged for lanes of one other kind as far as there are:
    what the slowest member decides (a publish, say) changes only with the last lane of its kind.

    `splits`: [split, kind]; `number`: [kind], the lanes of each.
    """
    found = [splits[:0]]
    for kind, count in enumerate(splits.T):
        left_out = splits.copy()
        left_out[:, kind] = 0
        found.append(left_out)
        for other in range(number.size):
            exchanged = left_out.copy()
            exchanged[:, other] = np.minimum(exchanged[:, other] + count, number[other])
            found += [exchanged] if other != kind else []
    return np.concatenate(found)


def _lowest(seconds: Seconds) -> Counts:
    """The indices of the `_NUM_IMPROVED` lowest limits."""
    return np.argsort(seconds, kind="stable")[:_NUM_IMPROVED]


def improved(splits: Counts, limits: Callable[[Counts], Seconds]) -> Counts:
    """The splits after moving lanes of one kind, or exchanging lanes of two kinds, for as long as that lowers their
    limits. `splits`: [split, kind]."""
    moves, best = _moves(splits.shape[1], int(splits.max(initial=1))), limits(splits)
    is_better = np.ones(len(splits), dtype=np.bool_)
    while is_better.any():
        neighbours = splits[:, None] + moves
        seconds = limits(neighbours.reshape(-1, splits.shape[1])).reshape(len(splits), -1)
        chosen = (np.arange(len(splits)), seconds.argmin(axis=1))
        is_better = seconds[chosen] < (1 - _IS_LOWER) * best
        splits = np.where(is_better[:, None], neighbours[chosen], splits)
        best = np.where(is_better, seconds[chosen], best)
    return splits


def _moves(num_kinds: int, most: int) -> Counts:
    """[move, kind]: up to `most` lanes more or fewer of a kind, or of a kind more and of another fewer: as many, or a
    few in other ratios."""
    single = np.eye(num_kinds, dtype=np.int64)
    pairs = list(permutations(single, 2))
    distances = np.unique(np.rint(np.geomspace(1, max(1, most), _NUM_DISTANCES)).astype(np.int64))
    steps = [*single, *-single, *(more - fewer for more, fewer in pairs)]
    few = range(1, _MOST_UNEQUAL + 1)
    unequal = [
        num_more * more - num_fewer * fewer
        for more, fewer in pairs
        for num_more, num_fewer in product(few, few)
        if num_more != num_fewer
    ]
    return np.array([*(distance * step for distance in distances for step in steps), *unequal])


def _limits_within_memory(
    algebra: BatchAlgebra,
    costs: PoolCosts,
    kinds: LaneKinds,
    rules: ScheduleRules,
    trainers: Counts,
    *,
    lends: bool,
) -> Seconds:
    """[split]: `batch_limits`, infinite for what is no split of the pool or does not fit in memory."""
    num_ranks = trainers.sum(axis=1)
    is_split = ((trainers >= 0) & (trainers <= kinds.number)).all(axis=1)
    is_split &= (num_ranks > 0) & (num_ranks < kinds.num_lanes)
    is_split &= kinds.fit(trainers, lends=lends)
    seconds: npt.NDArray[np.float64] = np.full(len(trainers), np.inf)
    if is_split.any():
        seconds[is_split] = batch_limits(algebra, costs, kinds, trainers[is_split], rules)
    return seconds
