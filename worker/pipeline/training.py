"""The training concern: how far one batch is trained, and what the trainer gang does next.

For each epoch, for each mini-batch in index order: accumulate all its groups, then commit. Weights move at a commit,
so a mini-batch never begins before the one ahead of it is committed, and an epoch never before the one ahead of it.
Invariant: every group is accumulated exactly once in each epoch, and a commit closes complete mini-batches only.
"""

from itertools import takewhile

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.spans import IdleCause
from worker.pipeline.assembler import GroupAssembler
from worker.pipeline.types import Accumulate, Commit


class Training:
    """Where the trainer stands in one batch.

    `whole_batch_first` holds training back until every group of the batch is scored; `in_order` accumulates groups by
    index, waiting at the head of the line.
    """

    def __init__(
        self,
        algebra: BatchAlgebra,
        assembler: GroupAssembler,
        *,
        batch: int,
        whole_batch_first: bool,
        in_order: bool,
    ) -> None:
        self._algebra = algebra
        self._assembler = assembler
        self._batch = batch
        self._whole_batch_first = whole_batch_first
        self._in_order = in_order
        self.epoch = 0
        self.minibatch = 0
        self._taken: set[int] = set()

    @property
    def taken(self) -> frozenset[int]:
        """Groups of the open mini-batch that are accumulated, or being so."""
        return frozenset(self._taken)

    @property
    def is_complete(self) -> bool:
        return self.epoch == self._algebra.num_epochs

    @property
    def has_open_gradients(self) -> bool:
        return bool(self._taken)

    @property
    def has_next(self) -> bool:
        """Whether a free gang would have something to do: groups to accumulate, a commit, or the batch's publish."""
        if self.is_complete:
            return True
        remaining = self._remaining()
        return not remaining or bool(self._ready(remaining))

    def take_next(self) -> Accumulate | Commit | None:
        """What the free gang does now, its groups counted as taken; `None` while it must wait or has trained all."""
        if self.is_complete:
            return None
        remaining = self._remaining()
        if not remaining:
            return Commit(self._batch, self.minibatch, self.epoch)
        ready = self._ready(remaining)
        self._taken.update(ready)
        return Accumulate(self._batch, self.minibatch, self.epoch, ready) if ready else None

    def committed(self) -> None:
        self._taken.clear()
        self.minibatch += 1
        if self.minibatch == self._algebra.num_minibatches:
            self.minibatch = 0
            self.epoch += 1

    def num_ready_groups(self) -> int:
        """Groups that are complete and not yet taken in this epoch, mini-batches to come included."""
        if self.is_complete:
            return 0
        num_behind = self.minibatch * self._algebra.num_groups_per_minibatch + len(self._taken)
        return self._assembler.num_complete_groups - num_behind

    def waiting_cause(self) -> IdleCause:
        """Why a free trainer gang has nothing to do while this batch is not trained yet."""
        awaited = range(self._algebra.num_groups) if self._whole_batch_first else self._remaining()
        incomplete = [group for group in awaited if not self._assembler.is_group_complete(group)]
        if all(self._assembler.is_group_generated(group) for group in incomplete):
            return IdleCause.REWARD_PENDING
        if self.num_ready_groups():
            return IdleCause.BATCH_BARRIER if self._whole_batch_first else IdleCause.HEAD_OF_LINE
        if any(self._assembler.is_group_begun(group) for group in incomplete):
            return IdleCause.GROUP_INCOMPLETE
        return IdleCause.NO_FRAGMENT_READY

    def _remaining(self) -> tuple[int, ...]:
        first = self.minibatch * self._algebra.num_groups_per_minibatch
        groups = range(first, first + self._algebra.num_groups_per_minibatch)
        return tuple(group for group in groups if group not in self._taken)

    def _ready(self, remaining: tuple[int, ...]) -> tuple[int, ...]:
        if self._whole_batch_first:
            return remaining if self._assembler.is_complete else ()
        if self._in_order:
            return tuple(takewhile(self._assembler.is_group_complete, remaining))
        return tuple(filter(self._assembler.is_group_complete, remaining))
