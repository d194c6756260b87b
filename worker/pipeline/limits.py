"""How long one batch takes at best, in closed form, for every split of a pool at once.

    lanes of equal costs are one kind; a split says how many of each kind train
    batch seconds = the smallest T in which all trajectories fit in front of what must follow the last of them

Used twice: with everything allowed it is the strict bound (`bound.py` derives it); with a mode's own restrictions it
narrows the planner's list. Invariant: no schedule that keeps to the mode ends a batch sooner.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from worker.contracts.algebra import BatchAlgebra
from worker.pipeline.estimates import LaneCosts, PoolCosts
from worker.pipeline.packing import num_micro_batches

Seconds = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """What a schedule may do."""

    overlaps: bool = True
    """Train groups while others still generate."""
    lends: bool = True
    """Let trainer lanes generate."""
    tsp: bool = True
    runs_ahead: bool = False
    """Staleness 1: generation of the next batch fills what is left over."""


@dataclass(frozen=True, slots=True, eq=False)
class LaneKinds:
    """Lanes of equal costs, one entry a kind in each array."""

    of_lane: tuple[int, ...]
    """The kind of each lane of the pool, in its order."""
    number: Counts
    fragment: Seconds
    """One fragment generated."""
    pull: Seconds
    lend: Seconds
    reclaim: Seconds
    micro_batch: Seconds
    commit: Seconds
    publish: Seconds

    @classmethod
    def of(cls, costs: PoolCosts, fragment_size: int) -> Self:
        kinds: dict[LaneCosts, int] = {}
        of_lane = tuple(kinds.setdefault(lane, len(kinds)) for lane in costs.lanes)
        counted = Counter(of_lane)
        return cls(
            of_lane,
            np.array([counted[kind] for kind in range(len(kinds))]),
            np.array([lane.generate.seconds(fragment_size) for lane in kinds]),
            np.array([lane.pull for lane in kinds]),
            np.array([lane.lend for lane in kinds]),
            np.array([lane.reclaim for lane in kinds]),
            np.array([lane.accumulate.per_unit for lane in kinds]),
            np.array([lane.commit for lane in kinds]),
            np.array([lane.publish for lane in kinds]),
        )


def batch_limits(algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds, trainers: Counts, mode: Mode) -> Seconds:
    """Seconds of one batch at best for each split.

    Args:
        trainers: [split, kind], how many lanes of each kind train; at least one in each split.

    Returns:
        [split]; infinite where nobody would generate.
    """
    gang = _Gang.of(algebra, kinds, trainers, tsp=mode.tsp)
    rollout = kinds.number - trainers
    score = costs.score.seconds(algebra.fragment_size)
    if mode.runs_ahead:
        tail = fill = np.zeros_like(gang.training)
    else:
        tail = score + (gang.after_last_group if mode.overlaps else gang.training)
        fill = _fill(algebra, kinds, rollout, trainers if mode.lends else np.zeros_like(trainers), score)

    def num_fragments_in(seconds: Seconds) -> Seconds:
        until = (seconds - tail)[:, None]
        own = (until - kinds.pull) / kinds.fragment
        spare = (seconds - gang.training)[:, None] - kinds.reclaim
        borrowed = (np.minimum(until, spare) - kinds.lend - kinds.pull) / kinds.fragment
        if not mode.runs_ahead:
            own, borrowed = np.floor(own + _ROUNDING), np.floor(borrowed + _ROUNDING)
        total = rollout * np.maximum(own, 0.0)
        if mode.lends:
            total = total + trainers * np.maximum(borrowed, 0.0)
        return np.asarray(total.sum(axis=1))

    scoring = score * algebra.num_fragments / costs.num_reward
    return _smallest(num_fragments_in, np.maximum(fill + gang.training, scoring), algebra.num_fragments)


_ROUNDING = 1e-9
"""Sums of the same seconds in another order may differ; a limit must not count that as a fragment less."""
_NUM_DOUBLINGS = 80
_NUM_HALVINGS = 50


def _smallest(num_fragments_in: Callable[[Seconds], Seconds], at_least: Seconds, num_fragments: int) -> Seconds:
    """The smallest times, from `at_least` on, that hold so many fragments: never above the true ones."""
    low, high = at_least.copy(), np.maximum(at_least, 1e-6)
    for _ in range(_NUM_DOUBLINGS):
        is_short = np.isfinite(high) & (num_fragments_in(high) < num_fragments)
        if not is_short.any():
            break
        low, high = np.where(is_short, high, low), np.where(is_short, 2 * high, high)
    else:
        high = np.where(is_short, np.inf, high)
    never = ~np.isfinite(high)
    high = np.where(never, low, high)
    for _ in range(_NUM_HALVINGS):
        middle = (low + high) / 2
        is_enough = num_fragments_in(middle) >= num_fragments
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return np.where(never, np.inf, np.maximum(low, at_least))


@dataclass(frozen=True, slots=True, eq=False)
class _Gang:
    """Of each split; seconds of a batch's training, commits and publish included."""

    training: Seconds
    after_last_group: Seconds
    """What is left when the last group is complete, all others trained as far as they can be: that group, the epochs
    after the first, the commits and the publish."""

    @classmethod
    def of(cls, algebra: BatchAlgebra, kinds: LaneKinds, trainers: Counts, *, tsp: bool) -> Self:
        # Ranks go through equally many micro-batches in step, so the slowest kind sets the pace.
        takes_part = trainers > 0
        pace, commit, publish = (
            np.where(takes_part, seconds, 0.0).max(axis=1)
            for seconds in (kinds.micro_batch, kinds.commit, kinds.publish)
        )
        sizes, which = np.unique(trainers.sum(axis=1), return_inverse=True)

        def units(num_groups: int) -> Seconds:
            each = [num_micro_batches(algebra, num_groups, world_size=int(size), tsp=tsp) for size in sizes]
            return np.array(each, dtype=np.float64)[which]

        minibatch = units(algebra.num_groups_per_minibatch) * pace
        later_epochs = (algebra.num_epochs - 1) * algebra.num_minibatches
        return cls(
            algebra.num_optimizer_steps_per_batch * (minibatch + commit) + publish,
            units(1) * pace + later_epochs * (minibatch + commit) + commit + publish,
        )


def _fill(algebra: BatchAlgebra, kinds: LaneKinds, rollout: Counts, lent: Counts, score: float) -> Seconds:
    """When the first group can be complete: of a group's fragments, some lane takes at least the ceiling of its share.

    `lent`: trainer lanes that may generate; such a one goes back before the gang trains.
    """
    num_generators = np.maximum((rollout + lent).sum(axis=1), 1)
    num_each = np.ceil(algebra.group_size // algebra.fragment_size / num_generators)[:, None]
    generated = kinds.pull + num_each * kinds.fragment
    own = np.where(rollout > 0, generated + score, np.inf)
    borrowed = np.where(lent > 0, kinds.lend + generated + np.maximum(score, kinds.reclaim), np.inf)
    first = np.minimum(own, borrowed).min(axis=1)
    return np.asarray(first)
