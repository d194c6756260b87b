"""Lower bounds on the seconds of a batch, which no schedule can beat.

**The bound** holds for every schedule: whichever lanes generate, train or do both, and however many micro-batches each
rank takes. It is the largest of four terms, each counted with what lanes have memory for:

1. Work. The linear program of all work over the lanes' rates (any staleness). Each lane divides its time between
   generating and training; a batch needs all its trajectories generated and all its micro-batches trained:

       min T   with   Σ generated_i ≥ trajectories,   Σ trained_i ≥ micro-batches,
                      generated_i · g_i + trained_i · a_i ≤ T      for each lane i

   (g_i seconds for a trajectory, a_i for a micro-batch). Sorted by g_i / a_i, the lanes that are comparatively good at
   generating generate, the rest train, and at most one does both (an exchange argument: swapping work between two lanes
   that are in the wrong order shortens both). Lanes without memory for one kind of work do the other.
2. Scoring by the reward lanes alone.
3. Critical path: the pull, a first group, its score, all optimizer steps one after the other and the publish fit into
   the batch's window (`batch_window`); so do a first fragment, all scores of the busiest reward lane, and the training
   that follows the last of them.
4. Whole fragments and micro-batches, within that window; and the work of term 1 with the pulls of lanes that generate,
   one for each version that they use, and the commits of lanes that train, one in each step that they train in.

At staleness 0 the window is one batch long, and lanes that do both switch twice in it. Nothing is generated in later
epochs then, so the bound of the first epoch by itself and the others' optimizer steps, in whole micro-batches each, are
a bound, too. At staleness 1 the window is two batches long, which bounds their mean; optimizer steps still follow one
another, and the work is that of the mean over a run: a single batch may be shorter if some of its work was done during
the batch before it.

**The lock-step bound** (staleness 0) is that of ranks in step: all take equally many micro-batches, and the slowest
sets the pace. For a given gang of trainer lanes, with t for the training of all micro-batches, all commits and the
publish:

1. Tail. When the last trajectory is generated it must still be scored, its group trained, then later epochs, the
   commits and the publish. So no lane generates in the last `tail` seconds, and a rollout lane, which pulls first,
   completes at most ⌊(T − tail − pull) ÷ fragment⌋ fragments.
2. A trainer lane that generates switches, pulls and switches back. Ranks in step spend all of t together, so it
   completes at most ⌊(min(T − tail, T − t − reclaim) − lend − pull) ÷ fragment⌋ fragments. By speed the others may
   train for it, so only commits and publish count in place of t, and what it generates is traded against the
   micro-batches that all ranks together must still end. These must add up to all fragments.
3. Fill. The gang cannot train before a first group is pulled for, generated and scored, so T ≥ fill + t.

The smallest such T over all gangs bounds every mode whose ranks are in step; those that share micro-batches by speed
may beat it. Colocated placement is the gang of all lanes, for which step 2 alone is generation and then training, with
one switch each way. `limits.batch_limits` computes T for a gang,
`exchange.GangOptions` a lower bound of the smallest one without going through all gangs. No bound takes more than
a sort for each number of ranks. Invariant: a bound for a smaller staleness is never below one for a larger.
"""

from dataclasses import replace

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.planning.batch_window import BatchWindow
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.lane_kinds import Counts, LaneKinds, Seconds
from worker.scheduling.planning.limits import ScheduleRules
from worker.scheduling.planning.proposals import gang_options


def bound_seconds(
    algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds | None = None, *, max_staleness: int = 1
) -> float:
    """The least seconds of a batch, averaged over a run, of any schedule with at most that staleness, for the algebra's
    fragment size; infinite where no lane has memory for some work. At staleness 0 it holds for every single batch.

    `kinds`: with the memory of their devices; without them every lane is assumed to have memory for everything.
    """
    kinds = LaneKinds.of(costs, algebra.fragment_size) if kinds is None else kinds
    least = work_seconds(algebra, costs, kinds)
    if np.isinf(least):
        return least
    window = BatchWindow.of(algebra, costs, kinds)
    if window.later_epochs and not max_staleness:
        first_epoch = bound_seconds(algebra.first_epoch(), costs, kinds, max_staleness=0)
        least = max(least, first_epoch + window.later_epochs)
    return least if np.isinf(least) else _least_window(window, least, max_staleness)


def _least_window(window: BatchWindow, least: float, max_staleness: int) -> float:
    """The least seconds of a batch, at least `least`, with which its window holds it."""
    algebra, kinds, num_batches = window.algebra, window.kinds, 1 + max_staleness
    share = _solve(algebra, kinds)[1]

    def is_enough(seconds: float) -> bool:
        pulling = window.kinds_that_pull(num_batches * seconds, num_batches)
        return (
            bool(pulling.can_generate.any())
            and _seconds_with_commits(window, pulling, seconds) <= seconds * (1 + _SAME)
            and window.holds_batch(num_batches * seconds, share, switches=not max_staleness)
        )

    low = high = max(least, window.training, window.critical_path / num_batches)
    while not is_enough(high):
        low, high = high, 2 * high
        if high > _NEVER:
            return np.inf
    while high - low > _SAME * high:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return low


def work_seconds(algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds | None = None) -> float:
    """The first two terms of the bound: all work over all lanes' rates, as if it were divisible and nothing waited."""
    kinds = LaneKinds.of(costs, algebra.fragment_size) if kinds is None else kinds
    if not kinds.can_generate.any() or not (kinds.ranks_to_train <= kinds.num_lanes).any():
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


def lock_step_bound_seconds(algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds | None = None) -> float:
    """The least seconds of any batch at staleness 0 with ranks in lock-step, whichever lanes train, for the algebra's
    fragment size; infinite where no lane has memory for some work. `kinds`: as for `bound_seconds`."""
    kinds = LaneKinds.of(costs, algebra.fragment_size) if kinds is None else kinds
    in_step = replace(costs, equal_counts=True)
    options = gang_options(algebra, in_step, kinds, ScheduleRules(), np.arange(1, kinds.num_lanes + 1))
    return options.least_seconds(low=work_seconds(algebra, costs, kinds))


def _solve(algebra: BatchAlgebra, kinds: LaneKinds) -> tuple[float, float]:
    """The linear program of generating and training: its value in seconds, and the share of generation in it."""
    generate = np.maximum(kinds.fragment / algebra.fragment_size, _NO_TIME)
    train = np.maximum(kinds.micro_batch, _NO_TIME)
    generate = np.where(kinds.can_generate, generate, _NEVER)
    train = np.where(kinds.ranks_to_train <= kinds.num_lanes, train, _NEVER)
    return _least_seconds(generate, train, kinds.number, algebra.num_trajectories, _num_micro_batches(algebra))


def _seconds_with_commits(window: BatchWindow, pulling: LaneKinds, seconds: float) -> float:
    """The least seconds of a batch's work with its pulls and commits, if its steps must be done in `seconds`.

    All work of a batch is worth 1 at the linear program's prices, and all lanes together earn no more than
    1 ÷ (its value) in a second. A lane that commits earns nothing meanwhile, so the commits of a batch keep the lanes
    from earning what the least of them would, for as many lanes as must train.
    """
    least, share = _solve(window.algebra, pulling)
    generating = share / window.algebra.num_fragments / np.maximum(pulling.fragment, _NO_TIME)
    training = (1 - share) / _num_micro_batches(window.algebra) / np.maximum(pulling.micro_batch, _NO_TIME)
    earned = np.maximum(np.where(pulling.can_generate, generating, 0.0), training)
    trains = window.can_train > 0
    return least * (1 + window.num_ranks(seconds) * float((window.commits * earned)[trains].min()))


def _num_micro_batches(algebra: BatchAlgebra) -> int:
    """Micro-batches of a whole batch."""
    return algebra.num_micro_batches_per_optimizer_step * algebra.num_optimizer_steps_per_batch


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
    does_first, does_second = first < _NEVER, second < _NEVER
    # Lanes that can do the first kind of work alone come first, those that can do the second alone last.
    in_order = np.lexsort((first / second, np.where(does_second, np.where(does_first, 1, 2), 0)))
    in_order = in_order[(does_first | does_second)[in_order]]
    first, second, number = first[in_order], second[in_order], number[in_order]
    # Kinds of lanes before `split` do the first kind of work only, those after it the second only, `split` itself both
    # where it can. Where it cannot, all others do the other kind, and it has time to spare.
    for split in range(number.size):
        rate_before = float((number[:split] / first[:split]).sum())
        rate_after = float((number[split + 1 :] / second[split + 1 :]).sum())
        lanes, each_first, each_second = float(number[split]), float(first[split]), float(second[split])
        if each_second >= _NEVER:
            seconds = num_second / max(rate_after, 1 / _NEVER)
            if (rate_before + lanes / each_first) * seconds >= num_first * (1 - _SAME):
                return seconds, 0.0
            continue
        if each_first >= _NEVER:
            seconds = num_first / max(rate_before, 1 / _NEVER)
            if (rate_after + lanes / each_second) * seconds >= num_second * (1 - _SAME):
                return seconds, 1.0
            continue
        # lanes · T = (num_first − rate_before · T) · each_first + (num_second − rate_after · T) · each_second
        work = num_first * each_first + num_second * each_second
        seconds = work / (lanes + rate_before * each_first + rate_after * each_second)
        slack = _SAME * seconds
        if rate_before * (seconds - slack) <= num_first and rate_after * (seconds - slack) <= num_second:
            return seconds, num_first * each_first / work
    raise AssertionError("one kind of lane must do both kinds of work, or lie where they meet")
