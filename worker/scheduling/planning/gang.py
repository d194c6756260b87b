"""How long a gang trains: a function of how many lanes of each kind are in it.

    counts of trainer lanes by kind ──► GangTraining ──► limits

Ranks train in step here: each takes equally many micro-batches, and the slowest kind sets the pace. Whatever model of
the gang is asked, the search and the limits only see seconds by counts. Invariant: snapshots are left out, so what is
derived as a lower bound holds with them too.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.core.batching import num_micro_batches
from worker.scheduling.planning.lane_kinds import Counts, LaneKinds, Seconds


@dataclass(frozen=True, slots=True, eq=False)
class GangTraining:
    """Training of a batch in each split, in seconds; [split]. Commits are included, and the publish where the gang must
    wait for it. Snapshots are left out, so the limits hold with them too."""

    training: Seconds
    """All of a batch's training."""
    after_last_group: Seconds
    """The training left when the last group becomes complete, if all others are trained as far as possible by then:
    that group, the epochs after the first, the commits and the publish."""

    @classmethod
    def of(
        cls, algebra: BatchAlgebra, kinds: LaneKinds, trainers: Counts, *, tsp: bool, waits_for_publish: bool
    ) -> Self:
        # Ranks train equally many micro-batches in step, so the slowest kind sets the pace.
        nothing = np.zeros_like(kinds.micro_batch)
        micro_batch = _slowest(trainers, kinds.micro_batch, nothing)
        commit = _slowest(trainers, kinds.commit, kinds.shared_commit)
        publish = _slowest(trainers, kinds.publish, kinds.shared_publish)
        if not waits_for_publish:
            # The gang trains the next batch meanwhile.
            publish = np.zeros_like(publish)
        sizes, index_of_size = np.unique(trainers.sum(axis=1), return_inverse=True)

        def micro_batches(num_groups: int) -> Seconds:
            of_size = [num_micro_batches(algebra, num_groups, world_size=int(size), tsp=tsp) for size in sizes]
            return np.array(of_size, dtype=np.float64)[index_of_size]

        minibatch = micro_batches(algebra.num_groups_per_minibatch) * micro_batch
        num_later_minibatches = (algebra.num_epochs - 1) * algebra.num_minibatches
        return cls(
            algebra.num_optimizer_steps_per_batch * (minibatch + commit) + publish,
            micro_batches(1) * micro_batch + num_later_minibatches * (minibatch + commit) + commit + publish,
        )


def _slowest(number: Counts, own: Seconds, shared: Seconds) -> Seconds:
    """[split]: the largest seconds over the kinds that take part, `own` plus `shared` divided by the number of ranks.

    `number`: [split, kind]. Kinds are few and splits many, so going kind by kind is fastest.
    """
    slowest, num_ranks = np.zeros(len(number)), number.sum(axis=1)
    for of_kind, alone, together in zip(number.T, own, shared, strict=True):
        slowest = np.maximum(slowest, np.where(of_kind > 0, alone + together / num_ranks, 0.0))
    return slowest
