"""The groups of one batch that are complete and not trained on, because they have no spread (`batch.filter_groups`).

Their advantages are 0, so they add nothing to a gradient, while the loss keeps counting their pairs. Invariant: a group
is skipped in every epoch or in none.
"""

from worker.contracts.algebra import BatchAlgebra


class SkippedGroups:
    """Holds the skipped groups by mini-batch."""

    def __init__(self, algebra: BatchAlgebra) -> None:
        self._algebra = algebra
        self._by_minibatch: list[set[int]] = [set() for _ in range(algebra.num_minibatches)]

    def __len__(self) -> int:
        return sum(len(groups) for groups in self._by_minibatch)

    def __contains__(self, group: int) -> bool:
        return group in self._by_minibatch[self._algebra.minibatch_of(group)]

    def add(self, group: int) -> None:
        self._by_minibatch[self._algebra.minibatch_of(group)].add(group)

    def all(self) -> frozenset[int]:
        """All skipped groups of the batch."""
        return frozenset[int]().union(*self._by_minibatch)

    def num_in(self, minibatch: int) -> int:
        """The number of skipped groups of a mini-batch."""
        return len(self._by_minibatch[minibatch])

    def num_before(self, minibatch: int) -> int:
        """The number of skipped groups of the mini-batches before `minibatch`."""
        return sum(len(groups) for groups in self._by_minibatch[:minibatch])

    def fill(self, minibatch: int) -> bool:
        """Whether every group of a mini-batch is skipped, so that it takes no optimizer step."""
        return self.num_in(minibatch) == self._algebra.num_groups_per_minibatch
