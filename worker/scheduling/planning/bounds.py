"""What no schedule can beat: two lower bounds on the seconds of a batch.

**The bound** (any staleness) is the linear program of total work over the lanes' rates. Each lane shares its time
between generating and training; a batch needs all its trajectories generated and all its micro-batches trained, and the
smallest T that holds both is

    min T   with   Σ generated_i ≥ trajectories,   Σ trained_i ≥ micro-batches,
                   generated_i · g_i + trained_i · a_i ≤ T      for each lane i

(g_i seconds for a trajectory, a_i for a micro-batch). Sorted by g_i / a_i, the lanes that are comparatively good at
generating generate, the rest train, and at most one does both (an exchange argument: swapping work between two lanes
that are in the wrong order shortens both). Commits, publishes and pulls are left out, so it holds for them too. Scoring
is a second such limit, of the reward lanes alone. It bounds the mean over a whole run; a single batch may borrow.

**The strict bound** (staleness 0) is of each single batch, from one publish to the next, and adds what cannot be
avoided when nothing of a batch may begin before the one ahead is published. For a given gang of trainer lanes, with t
for the training of all micro-batches by K ranks in step, all commits and the publish:

1. Tail. When the last trajectory is generated it must still be scored, its group trained, then later epochs, the
   commits and the publish. So nobody generates in the last `tail` seconds, and a rollout lane, which pulls first,
   completes at most ⌊(T − tail − pull) ÷ fragment⌋ fragments.
2. A trainer lane that generates turns, pulls and turns back, and spends t in step with the gang: it completes at most
   ⌊(min(T − tail, T − t − reclaim) − lend − pull) ÷ fragment⌋. These must add up to all fragments.
3. Fill. The gang cannot train before a first group is pulled for, generated and scored, so T ≥ fill + t.

The smallest such T over all gangs bounds every mode, colocated included: that is the gang of all lanes, for which the
second line alone is generation and training one after the other with one turn each. `limits.batch_limits` computes it.
"""

import math

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.limits import Counts, LaneKinds, ScheduleRules, Seconds, batch_limits, least_limit


def bound_seconds(algebra: BatchAlgebra, costs: PoolCosts) -> float:
    """Seconds a batch at least, averaged over a run, at any staleness, for the algebra's fragment size."""
    return max(scoring_seconds(algebra, costs), _working(algebra, costs)[0])


def scoring_seconds(algebra: BatchAlgebra, costs: PoolCosts) -> float:
    """Seconds in which the reward lanes score a batch, if none of them ever waits."""
    return costs.score.seconds(algebra.fragment_size) * algebra.num_fragments / costs.num_reward


def generation_share(algebra: BatchAlgebra, costs: PoolCosts) -> float:
    """Which part of a batch's work its generation is, by the linear program's prices (its dual): what lanes could do in
    the same time is worth no more than that time, whichever of the two they do."""
    return _working(algebra, costs)[1]


def _working(algebra: BatchAlgebra, costs: PoolCosts) -> tuple[float, float]:
    """The linear program of generating and training: its value, and the part that generation has in it."""
    kinds = LaneKinds.of(costs, algebra.fragment_size)
    generate = np.maximum(kinds.fragment / algebra.fragment_size, _NO_TIME)
    train = np.maximum(kinds.micro_batch, _NO_TIME)
    num_micro_batches = algebra.num_micro_batches_per_optimizer_step * algebra.num_optimizer_steps_per_batch
    return _shared_work(generate, train, kinds.number, algebra.num_trajectories, num_micro_batches)


def strict_bound_seconds(algebra: BatchAlgebra, costs: PoolCosts, *, below: float = math.inf) -> float:
    """Seconds of each batch at least at staleness 0, whatever lanes train, for the algebra's fragment size.

    `below`: what is known already; returned where this is no smaller.
    """
    kinds = LaneKinds.of(costs, algebra.fragment_size)
    counts = np.indices(tuple(int(number) + 1 for number in kinds.number)).reshape(kinds.number.size, -1).T
    counts = counts[counts.sum(axis=1) > 0]
    # All lanes generate, then all train: that can always be done.
    known = float(batch_limits(algebra, costs, kinds, kinds.number[None, :], ScheduleRules())[0])
    within = (bound_seconds(algebra, costs), min(below, known))
    return least_limit(algebra, costs, kinds, counts, ScheduleRules(), within)


_NO_TIME = 1e-12
"""Stands in for work that costs nothing, which has no rate."""
_SAME = 1e-9
"""Relative: what rounding may make of two equal times."""


def _shared_work(
    first: Seconds, second: Seconds, number: Counts, num_first: float, num_second: float
) -> tuple[float, float]:
    """The smallest T for two kinds of work on lanes that need `first` and `second` seconds for a unit of each, and the
    first kind's part of the work at the prices of the kind of lane that does both."""
    best_at_first = np.argsort(first / second, kind="stable")
    first, second, number = first[best_at_first], second[best_at_first], number[best_at_first]
    # In T seconds kinds before `split` do the first only, those after it the second only, itself a share of both.
    for split in range(number.size):
        rate_before = float((number[:split] / first[:split]).sum())
        rate_after = float((number[split + 1 :] / second[split + 1 :]).sum())
        lanes, each_first, each_second = float(number[split]), float(first[split]), float(second[split])
        # lanes · T = (num_first − rate_before · T) · each_first + (num_second − rate_after · T) · each_second
        work = num_first * each_first + num_second * each_second
        seconds = work / (lanes + rate_before * each_first + rate_after * each_second)
        slack = _SAME * seconds
        if rate_before * (seconds - slack) <= num_first and rate_after * (seconds - slack) <= num_second:
            return seconds, num_first * each_first / work
    raise AssertionError("some kind of lane does both, or stands where the two meet")
