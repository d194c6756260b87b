"""Lower bounds on the seconds of a batch, which no schedule can beat.

**The bound** (any staleness) is the linear program of total work over the lanes' rates. Each lane divides its time
between generating and training; a batch needs all its trajectories generated and all its micro-batches trained, so the
least time is

    min T   with   Σ generated_i ≥ trajectories,   Σ trained_i ≥ micro-batches,
                   generated_i · g_i + trained_i · a_i ≤ T      for each lane i

(g_i seconds for a trajectory, a_i for a micro-batch). Sorted by g_i / a_i, the lanes that are comparatively good at
generating generate, the rest train, and at most one does both (an exchange argument: swapping work between two lanes
that are in the wrong order shortens both). Lanes without memory for one kind of work do the other. Commits, publishes
and pulls are left out, so the bound holds with them too. Scoring by the reward lanes alone is a second limit. Both
bound the mean over a whole run: a single batch may be shorter if some of its work was done during the batch before it.

**The strict bound** (staleness 0) is of each single batch, from one publish to the next. It adds the time that cannot
be avoided when nothing of a batch may begin before the previous one is published. For a given gang of trainer lanes,
with t for the training of all micro-batches by all its ranks (`gang`), all commits and the publish:

1. Tail. When the last trajectory is generated it must still be scored, its group trained, then later epochs, the
   commits and the publish. So no lane generates in the last `tail` seconds, and a rollout lane, which pulls first,
   completes at most ⌊(T − tail − pull) ÷ fragment⌋ fragments.
2. A trainer lane that generates switches, pulls and switches back. Ranks in step spend all of t together, so it
   completes at most ⌊(min(T − tail, T − t − reclaim) − lend − pull) ÷ fragment⌋ fragments. By speed the others may
   train for it, so only commits and publish count in place of t, and what it generates is traded against the
   micro-batches that all ranks together must still end. These must add up to all fragments.
3. Fill. The gang cannot train before a first group is pulled for, generated and scored, so T ≥ fill + t.

The smallest such T over all gangs bounds every mode. Colocated placement is the gang of all lanes, for which step 2
alone is generation and then training, with one switch each way. `limits.batch_limits` computes T for a gang,
`exchange.GangOptions` a lower bound of the smallest one without going through all gangs: a sort for each option.
Invariant: the strict bound is never below the bound.
"""

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.lane_kinds import Counts, LaneKinds, Seconds
from worker.scheduling.planning.limits import ScheduleRules
from worker.scheduling.planning.proposals import gang_options


def bound_seconds(algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds | None = None) -> float:
    """The least seconds of a batch, averaged over a run, at any staleness, for the algebra's fragment size; infinite
    where no lane has memory for some work.

    `kinds`: with the memory of their devices; without them every lane is assumed to have memory for everything.
    """
    kinds = LaneKinds.of(costs, algebra.fragment_size) if kinds is None else kinds
    if not kinds.can_generate.any() or not np.isfinite(kinds.ranks_to_train).any():
        return np.inf
    return max(scoring_seconds(algebra, costs), _solve(algebra, kinds)[0])


def scoring_seconds(algebra: BatchAlgebra, costs: PoolCosts) -> float:
    """Seconds in which the reward lanes score a batch, if none of them ever waits."""
    return costs.score.seconds(algebra.fragment_size) * algebra.num_fragments / costs.num_reward


def generation_share(algebra: BatchAlgebra, costs: PoolCosts) -> float:
    """The share of generation in a batch's work, 0 to 1, by the prices of the linear program's dual solution.

    At these prices no lane can do work worth more than the time it takes, whichever of the two kinds it does, so a
    schedule that has generated and trained parts of batches is not credited with more than it could have done.
    """
    return _solve(algebra, LaneKinds.of(costs, algebra.fragment_size))[1]


def strict_bound_seconds(algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds | None = None) -> float:
    """The least seconds of any batch at staleness 0, whichever lanes train, for the algebra's fragment size; infinite
    where no lane has memory for some work. `kinds`: as for `bound_seconds`."""
    kinds = LaneKinds.of(costs, algebra.fragment_size) if kinds is None else kinds
    options = gang_options(algebra, costs, kinds, ScheduleRules(), np.arange(1, kinds.num_lanes + 1))
    return options.least_seconds(low=bound_seconds(algebra, costs, kinds))


def _solve(algebra: BatchAlgebra, kinds: LaneKinds) -> tuple[float, float]:
    """The linear program of generating and training: its value in seconds, and the share of generation in it."""
    generate = np.maximum(kinds.fragment / algebra.fragment_size, _NO_TIME)
    train = np.maximum(kinds.micro_batch, _NO_TIME)
    generate = np.where(kinds.can_generate, generate, _NEVER)
    train = np.where(np.isfinite(kinds.ranks_to_train), train, _NEVER)
    num_micro_batches = algebra.num_micro_batches_per_optimizer_step * algebra.num_optimizer_steps_per_batch
    return _least_seconds(generate, train, kinds.number, algebra.num_trajectories, num_micro_batches)


_NO_TIME = 1e-12
"""Seconds that stand in for work that costs nothing, which would have no rate."""
_NEVER = 1e15
"""Seconds that stand in for work that a lane has no memory for: its rate is nothing beside any other."""
_SAME = 1e-9
"""Relative difference of two equal times by rounding, with room to spare: a double is precise to 1e-16."""


def _least_seconds(
    first: Seconds, second: Seconds, number: Counts, num_first: float, num_second: float
) -> tuple[float, float]:
    """The smallest T for two kinds of work, and the share of the first kind at the prices of the lanes that do both.

    Args:
        first: [kind of lane], seconds for a unit of the first kind of work.
        second: [kind of lane], seconds for a unit of the second kind of work.
        number: [kind of lane], how many lanes of the kind there are.
        num_first: units of the first kind of work.
        num_second: units of the second kind of work.
    """
    best_at_first = np.argsort(first / second, kind="stable")
    first, second, number = first[best_at_first], second[best_at_first], number[best_at_first]
    # Kinds of lanes before `split` do the first kind of work only, those after it the second only, `split` itself both.
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
    raise AssertionError("one kind of lane must do both kinds of work, or lie where they meet")
