"""How long a gang trains: a function of how many lanes of each kind are in it.

    counts of trainer lanes by kind ──► GangTraining ──► limits

Ranks share the micro-batches of a mini-batch by speed, so it takes the least time in which all of them together end
that many units of work, each rank whole ones. Where they must take equally many (ZeRO 2 and 3), they
train in step, and the slowest kind sets the pace. Either way all ranks commit together. Whatever model of the gang is
asked, the search and the limits only see seconds by counts. Invariant: snapshots and the fixed part of calls are left
out, so what is derived as a lower bound holds with them too.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.core.batching import (
    num_micro_batches,
    num_micro_batches_per_group,
    num_micro_batches_per_unit,
)
from worker.scheduling.planning.lane_kinds import Counts, LaneKinds, Seconds

ROUNDING = 1e-9
"""Fragments, or units of training: sums of the same seconds in another order may differ, which must not cost a whole
one."""
TOLERANCE = 1e-9
"""Relative error of times that are halved for: far below the differences that a search tells apart, and any figure that
is shown."""


@dataclass(frozen=True, slots=True, eq=False)
class GangTraining:
    """Training of a batch in each split, in seconds; [split]. Commits are included, and the publish where the gang must
    wait for it. Snapshots are left out, so the limits hold with them too."""

    training: Seconds
    """All of a batch's training."""
    after_last_group: Seconds
    """The training left when the last group becomes complete, if all others are trained as far as possible by then:
    that group, the epochs after the first, the commits and the publish."""
    together: Seconds
    """The part of `training` in which every rank takes part: commits and publish, and in step all of it."""

    @classmethod
    def of(
        cls,
        algebra: BatchAlgebra,
        kinds: LaneKinds,
        trainers: Counts,
        *,
        tsp: bool,
        waits_for_publish: bool,
        equal_counts: bool,
    ) -> Self:
        commit = slowest(trainers, kinds.commit, kinds.shared_commit)
        publish = slowest(trainers, kinds.publish, kinds.shared_publish)
        if not waits_for_publish:
            # The gang trains the next batch meanwhile.
            publish = np.zeros_like(publish)
        if equal_counts:
            minibatch, last_group = _in_step(algebra, kinds, trainers, tsp=tsp)
        else:
            unit, num_units = units_of_training(algebra, kinds, tsp=tsp)
            minibatch = seconds_of_units(trainers, unit, num_units * algebra.num_groups_per_minibatch)
            last_group = seconds_of_units(trainers, unit, num_units)
        return cls.from_minibatch(algebra, minibatch, last_group, commit, publish, equal_counts=equal_counts)

    @classmethod
    def from_minibatch(
        cls,
        algebra: BatchAlgebra,
        minibatch: Seconds,
        last_group: Seconds,
        commit: Seconds,
        publish: Seconds,
        *,
        equal_counts: bool,
    ) -> Self:
        """From the seconds of a mini-batch whose groups are all complete, of a single group, of a commit and of the
        publish that the gang must wait for."""
        num_steps, num_later = algebra.num_optimizer_steps_per_batch, (algebra.num_epochs - 1) * algebra.num_minibatches
        training = num_steps * (minibatch + commit) + publish
        return cls(
            training,
            last_group + num_later * (minibatch + commit) + commit + publish,
            training if equal_counts else num_steps * commit + publish,
        )


def units_of_training(algebra: BatchAlgebra, kinds: LaneKinds, *, tsp: bool) -> tuple[Seconds, int]:
    """([kind] seconds of a unit of work, units in a group), where a unit is what one rank takes undivided."""
    size = num_micro_batches_per_unit(algebra, tsp=tsp)
    return np.maximum(kinds.micro_batch * size, _NO_TIME), num_micro_batches_per_group(algebra) // size


def seconds_of_units(trainers: Counts, unit: Seconds, num_units: int) -> Seconds:
    """[split]: the least seconds in which the ranks together end `num_units`, each of them whole ones.

    `trainers`: [split, kind]; `unit`: [kind], seconds of a unit, > 0.
    """
    low = num_units / np.maximum(trainers @ (1.0 / unit), 1.0 / _FOREVER)
    # A rank's unfinished unit is the only loss, so by then each rank has made up for it.
    high = low + slowest(trainers, unit, np.zeros_like(unit))
    shortest = unit.min()
    while np.any(high - low > np.maximum(shortest, TOLERANCE * high)):
        middle = (low + high) / 2
        is_too_short = (np.floor(middle[:, None] / unit + ROUNDING) * trainers).sum(axis=1) < num_units
        low, high = np.where(is_too_short, middle, low), np.where(is_too_short, high, middle)
    # Until `high` a rank ends no more than one further unit, and the last of all is one of these.
    done = np.floor(low[:, None] / unit + ROUNDING)
    ends, order = (done + 1) * unit, np.argsort((done + 1) * unit, axis=1)
    num_done = (done * trainers).sum(axis=1)
    is_last = num_done[:, None] + np.cumsum(np.take_along_axis(trainers, order, axis=1), axis=1) >= num_units
    last = np.take_along_axis(order, is_last.argmax(axis=1)[:, None], axis=1)
    end = np.where(is_last[:, -1], np.take_along_axis(ends, last, axis=1)[:, 0], high)
    return np.where(num_done >= num_units, low, end)


_NO_TIME = 1e-12
"""Seconds that stand in for units that take no time, of which any number would fit."""
_FOREVER = 1e18
"""Seconds that stand in for the training of a gang without ranks."""


def _in_step(algebra: BatchAlgebra, kinds: LaneKinds, trainers: Counts, *, tsp: bool) -> tuple[Seconds, Seconds]:
    """[split]: seconds of a mini-batch and of a single group, where each rank takes equally many micro-batches."""
    micro_batch = slowest(trainers, kinds.micro_batch, np.zeros_like(kinds.micro_batch))
    sizes, index_of_size = np.unique(trainers.sum(axis=1), return_inverse=True)

    def micro_batches(num_groups: int) -> Seconds:
        of_size = [num_micro_batches(algebra, num_groups, world_size=int(size), tsp=tsp) for size in sizes]
        return np.array(of_size, dtype=np.float64)[index_of_size]

    return micro_batches(algebra.num_groups_per_minibatch) * micro_batch, micro_batches(1) * micro_batch


def slowest(number: Counts, own: Seconds, shared: Seconds) -> Seconds:
    """[split]: the largest seconds over the kinds that take part, `own` plus `shared` divided by the number of ranks.

    `number`: [split, kind]. Kinds are few and splits many, so going kind by kind is fastest.
    """
    most, num_ranks = np.zeros(len(number)), np.maximum(number.sum(axis=1), 1)
    for of_kind, alone, together in zip(number.T, own, shared, strict=True):
        most = np.maximum(most, np.where(of_kind > 0, alone + together / num_ranks, 0.0))
    return most
