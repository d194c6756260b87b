"""How long one batch takes at best, in closed form, for every split of a pool at once.

    lanes of equal costs are one kind; a split says how many of each kind train
    batch seconds = the smallest T in which all trajectories fit in front of what must follow the last of them

Used twice: with everything allowed it is the strict bound (`bound.py` derives it); with a mode's own restrictions it
narrows the planner's list. Invariant: no schedule that keeps to the mode ends a batch sooner.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.core.batching import num_micro_batches
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts

Seconds = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


_NO_TIME = 1e-12
"""Stands in for generation that costs nothing, of which any number would fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRules:
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
    shared_commit: Seconds
    """Of the gang together, as the next two: divided by its number of lanes."""
    shared_publish: Seconds
    shared_switch: Seconds

    @classmethod
    def of(cls, costs: PoolCosts, fragment_size: int) -> Self:
        kinds: dict[LaneCosts, int] = {}
        of_lane = tuple(kinds.setdefault(lane, len(kinds)) for lane in costs.lanes)
        counted = Counter(of_lane)
        return cls(
            of_lane,
            np.array([counted[kind] for kind in range(len(kinds))]),
            np.maximum([lane.generate.seconds(fragment_size) for lane in kinds], _NO_TIME),
            np.array([lane.pull for lane in kinds]),
            np.array([lane.lend for lane in kinds]),
            np.array([lane.reclaim for lane in kinds]),
            np.array([lane.accumulate.per_unit for lane in kinds]),
            np.array([lane.commit for lane in kinds]),
            np.array([lane.publish for lane in kinds]),
            np.array([lane.shared_commit for lane in kinds]),
            np.array([lane.shared_publish for lane in kinds]),
            np.array([lane.shared_switch for lane in kinds]),
        )


def batch_limits(
    algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds, trainers: Counts, mode: ScheduleRules
) -> Seconds:
    """Seconds of one batch at best for each split.

    Args:
        trainers: [split, kind], how many lanes of each kind train; at least one in each split.

    Returns:
        [split]; infinite where nobody would generate.
    """
    splits = _Splits.of(algebra, costs, kinds, trainers, mode)
    low, high = splits.at_least, np.maximum(splits.at_least, 1e-6)
    is_short = splits.are_short(high)
    for _ in range(_NUM_DOUBLINGS):
        if not is_short.any():
            break
        low, high = np.where(is_short, high, low), np.where(is_short, 2 * high, high)
        is_short = splits.are_short(high)
    for _ in range(_NUM_HALVINGS):
        middle = (low + high) / 2
        too_little = splits.are_short(middle)
        low, high = np.where(too_little, middle, low), np.where(too_little, high, middle)
    return np.where(is_short, np.inf, np.maximum(low, splits.at_least))


def least_limit(
    algebra: BatchAlgebra,
    costs: PoolCosts,
    kinds: LaneKinds,
    trainers: Counts,
    mode: ScheduleRules,
    within: tuple[float, float],
) -> float:
    """The smallest of `batch_limits`, known to be no less than the first of `within`; the second of it where that is
    smaller. Splits out of the running are dropped as soon as they are, so this is the one for very many of them."""
    splits = _Splits.of(algebra, costs, kinds, trainers, mode)
    low, high = within
    splits = splits.only(splits.in_time(high * (1 - _SAME)))
    if not splits.at_least.size:
        return high
    while high - low > _SAME * high:
        middle = (low + high) / 2
        in_time = splits.in_time(middle)
        if in_time.any():
            high, splits = middle, splits.only(in_time)
        else:
            low = middle
    return low


@dataclass(frozen=True, slots=True, eq=False)
class _Splits:
    """Which fragments fit in a given time, for many splits; [split] or [split, kind]."""

    num_fragments: int
    kinds: LaneKinds
    mode: ScheduleRules
    trainers: Counts
    training: Seconds
    tail: Seconds
    """Nobody generates in the last so many seconds."""
    turn: Seconds
    """[split, kind], of either turn of a lane that is lent: what its gang shares."""
    at_least: Seconds

    @classmethod
    def of(
        cls, algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds, trainers: Counts, mode: ScheduleRules
    ) -> Self:
        gang = _Gang.of(algebra, kinds, trainers, tsp=mode.tsp, waits_for_publish=not mode.runs_ahead)
        score = costs.score.seconds(algebra.fragment_size)
        scoring = score * algebra.num_fragments / costs.num_reward
        turn = kinds.shared_switch / trainers.sum(axis=1, keepdims=True)
        if mode.runs_ahead:
            tail = fill = np.zeros_like(gang.training)
        else:
            tail = score + (gang.after_last_group if mode.overlaps else gang.training)
            lent = trainers if mode.lends else np.zeros_like(trainers)
            fill = _fill(algebra, kinds, kinds.number - trainers, lent, score, turn)
        at_least = np.maximum(fill + gang.training, scoring)
        return cls(algebra.num_fragments, kinds, mode, trainers, gang.training, tail, turn, at_least)

    def are_short(self, seconds: Seconds) -> npt.NDArray[np.bool_]:
        """[split]: whether fewer fragments than a batch has fit in so many seconds."""
        kinds = self.kinds
        until = (seconds - self.tail)[:, None]
        own = (until - kinds.pull) / kinds.fragment
        spare = (seconds - self.training)[:, None] - kinds.reclaim - self.turn
        borrowed = (np.minimum(until, spare) - kinds.lend - self.turn - kinds.pull) / kinds.fragment
        if not self.mode.runs_ahead:
            own, borrowed = np.floor(own + _ROUNDING), np.floor(borrowed + _ROUNDING)
        total = (kinds.number - self.trainers) * np.maximum(own, 0.0)
        if self.mode.lends:
            total = total + self.trainers * np.maximum(borrowed, 0.0)
        return np.asarray(total @ np.ones(total.shape[1]) < self.num_fragments)

    def in_time(self, seconds: float) -> npt.NDArray[np.bool_]:
        """[split]: whether a batch can end so soon."""
        may_be = self.at_least <= seconds
        may_be[may_be] = ~self.only(may_be).are_short(np.full(int(may_be.sum()), seconds))
        return may_be

    def only(self, these: npt.NDArray[np.bool_]) -> "_Splits":
        trainers, seconds = self.trainers[these], (self.training, self.tail, self.turn, self.at_least)
        return _Splits(self.num_fragments, self.kinds, self.mode, trainers, *(each[these] for each in seconds))


_ROUNDING = 1e-9
"""Sums of the same seconds in another order may differ; a limit must not count that as a fragment less."""
_SAME = 1e-9
"""Relative: where a search for the smallest time ends."""
_NUM_DOUBLINGS = 80
_NUM_HALVINGS = 50


@dataclass(frozen=True, slots=True, eq=False)
class _Gang:
    """Of each split; seconds of a batch's training, commits included, and the publish where all wait for it."""

    training: Seconds
    after_last_group: Seconds
    """What is left when the last group is complete, all others trained as far as they can be: that group, the epochs
    after the first, the commits and the publish."""

    @classmethod
    def of(
        cls, algebra: BatchAlgebra, kinds: LaneKinds, trainers: Counts, *, tsp: bool, waits_for_publish: bool
    ) -> Self:
        # Ranks go through equally many micro-batches in step, so the slowest kind sets the pace.
        nothing = np.zeros_like(kinds.micro_batch)
        pace = _slowest(trainers, kinds.micro_batch, nothing)
        commit = _slowest(trainers, kinds.commit, kinds.shared_commit)
        publish = _slowest(trainers, kinds.publish, kinds.shared_publish)
        if not waits_for_publish:
            # The gang trains the next batch meanwhile.
            publish = np.zeros_like(publish)
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


def _slowest(number: Counts, own: Seconds, shared: Seconds) -> Seconds:
    """[split]: of the kinds that take part, `shared` being divided by how many do. Kinds are few and splits many, so
    kind by kind is fastest."""
    slowest, num_ranks = np.zeros(len(number)), number.sum(axis=1)
    for of_kind, alone, together in zip(number.T, own, shared, strict=True):
        slowest = np.maximum(slowest, np.where(of_kind > 0, alone + together / num_ranks, 0.0))
    return slowest


def _fill(
    algebra: BatchAlgebra, kinds: LaneKinds, rollout: Counts, lent: Counts, score: float, turn: Seconds
) -> Seconds:
    """When the first group can be complete: of a group's fragments, some lane takes at least the ceiling of its share.

    `lent`: trainer lanes that may generate; such a one goes back before the gang trains. `turn`: [split, kind].
    """
    num_generators = np.maximum((rollout + lent) @ np.ones(rollout.shape[1]), 1)
    num_each = np.ceil(algebra.group_size // algebra.fragment_size / num_generators)
    first = np.full(len(rollout), np.inf)
    for kind, (own, borrowed, shared) in enumerate(zip(rollout.T, lent.T, turn.T, strict=True)):
        generated = kinds.pull[kind] + num_each * kinds.fragment[kind]
        back = kinds.lend[kind] + shared + generated + np.maximum(score, kinds.reclaim[kind] + shared)
        first = np.minimum(first, np.where(own > 0, generated + score, np.inf))
        first = np.minimum(first, np.where(borrowed > 0, back, np.inf))
    return first
