"""A large pool in small: as many kinds of lanes in the same proportions, with as much of a batch for each lane.

    512 lanes, 512 prompts ──► 32 lanes, 32 prompts ──► choices found by simulation ──► the same shares of the 512 lanes

What a split takes hardly depends on the size of the pool, since work for each lane, fragments and micro-batches stay
what they are. So a choice made in small is a good one to simulate, or where the pool is too large even for that, its
seconds are those of the limit times what simulation adds to the limit in small. Invariant: the same pool gives the same
small one, in whatever order its lanes are listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.planning.candidate_simulation import Candidate
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.mode_limits import ModeLimits, Split

_NUM_LANES = 32
"""The lanes of a small pool, about: with fewer of each kind a split is a coarse choice, and with more fewer splits can
be simulated in the same time."""
_MOST_LANES = 64
"""The most lanes of a small pool; with more kinds of lanes than this, a pool cannot be made small."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ScaledPool:
    """A pool, and the same in small."""

    limits: ModeLimits
    """The small pool."""
    large: LaneKinds
    """The kinds of the large pool."""
    kind_of_lane: Sequence[int]
    """[lane of the small pool]: its kind in the large one."""

    @classmethod
    def of(cls, limits: ModeLimits) -> Self | None:
        """The pool in small; `None` where it has too many kinds of lanes for that."""
        kinds, algebra = limits.kinds, limits.work.algebra
        factor = _factor(kinds.num_lanes, algebra.num_groups_per_minibatch)
        numbers = [max(1, round(number / factor)) for number in kinds.number.tolist()]
        if sum(numbers) > _MOST_LANES:
            return None
        first = [kinds.of_lane.index(kind) for kind in range(len(numbers))]
        of_lane = [kind for kind, number in enumerate(numbers) for _ in range(number)]
        return cls(
            limits=replace(
                limits,
                work=limits.work.with_algebra(_in_small(algebra, factor)),
                costs=_costs_in_small(limits.costs, [first[kind] for kind in of_lane]),
                devices=[limits.devices[first[kind]] for kind in of_lane],
            ),
            large=kinds,
            kind_of_lane=of_lane,
        )

    def in_large(self, candidate: Candidate) -> Split:
        """The split of the large pool in which the same shares of each kind train."""
        number = np.bincount(self.kind_of_lane, minlength=self.large.number.size)
        training = [self.kind_of_lane[index] for index in candidate.trainers]
        trainers = np.bincount(training, minlength=self.large.number.size)
        scaled = np.clip(np.rint(trainers * self.large.number / number), trainers > 0, self.large.number)
        return Split(tuple(scaled.astype(np.int64).tolist()), candidate.fragment_size)

    def in_small(self, candidate: Candidate) -> Split:
        """The split of the small pool's own kinds."""
        return Split(self.limits.kinds.numbers_of(candidate.trainers), candidate.fragment_size)

    @property
    def lanes_ratio(self) -> float:
        """Lanes of the large pool for each lane of the small one."""
        return self.large.num_lanes / len(self.kind_of_lane)


def _factor(num_lanes: int, num_groups: int) -> int:
    """How many times smaller the small pool is: near enough a divisor of the groups of a mini-batch, which leaves each
    lane exactly its share."""
    least = -(-num_lanes // _MOST_LANES)
    wanted = max(least, round(num_lanes / _NUM_LANES))
    divisors = [factor for factor in range(max(least, wanted // 2 + 1), 2 * wanted) if num_groups % factor == 0]
    return min(divisors, key=lambda factor: abs(factor - wanted), default=wanted)


def _in_small(algebra: BatchAlgebra, factor: int) -> BatchAlgebra:
    """A batch of that many times fewer prompts, at least one in each mini-batch."""
    each = max(1, round(algebra.num_groups_per_minibatch / factor))
    share = each / algebra.num_groups_per_minibatch
    counts = {
        name: round(getattr(algebra, name) * share)
        for name in (
            "num_groups",
            "num_trajectories",
            "num_fragments",
            "num_groups_per_minibatch",
            "num_pairs_per_optimizer_step",
            "num_micro_batches_per_optimizer_step",
        )
    }
    return algebra.model_copy(update=counts)


def _costs_in_small(costs: PoolCosts, lanes: Sequence[int]) -> PoolCosts:
    """The costs of these lanes of a pool. What ranks share is divided by fewer of them, so it is as many times less;
    reward lanes are as many times fewer, and score as much for each lane in all."""
    factor = len(costs.lanes) / len(lanes)
    num_reward = max(1, round(costs.num_reward / factor))
    return replace(
        costs,
        lanes=tuple(_lane_in_small(costs.lanes[lane], factor) for lane in lanes),
        score=costs.score.scaled(num_reward * factor / costs.num_reward),
        num_reward=num_reward,
    )


def _lane_in_small(lane: LaneCosts, factor: float) -> LaneCosts:
    return replace(
        lane,
        shared_commit=lane.shared_commit / factor,
        shared_snapshot=lane.shared_snapshot / factor,
        shared_publish=lane.shared_publish / factor,
        shared_switch=lane.shared_switch / factor,
    )
