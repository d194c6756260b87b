"""The training concern: how far one batch is trained, and what the trainer gang does next.

For each epoch, for each mini-batch in index order: accumulate all its groups, then commit. Weights move at a commit,
so a mini-batch never begins before the one ahead of it is committed, and an epoch never before the one ahead of it.
Invariant: every group is accumulated exactly once in each epoch, and a commit closes complete mini-batches only.
"""

from itertools import count, takewhile

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.spans import IdleCause
from worker.scheduling.core.batching import bundle_size
from worker.scheduling.core.group_assembler import GroupAssembler
from worker.scheduling.core.messages import Accumulate, Commit


class Training:
    """Where the trainer stands in one batch.

    `whole_batch_first` holds training back until every group of the batch is scored; `in_order` accumulates groups by
    index, waiting at the head of the line; `tsp` tells how micro-batches are spread over ranks, hence how they pad.
    """

    def __init__(
        self,
        algebra: BatchAlgebra,
        assembler: GroupAssembler,
        *,
        batch: int,
        whole_batch_first: bool,
        in_order: bool,
        tsp: bool,
    ) -> None:
        self._algebra = algebra
        self._assembler = assembler
        self._batch = batch
        self._whole_batch_first = whole_batch_first
        self._in_order = in_order
        self._tsp = tsp
        self.epoch = 0
        self.minibatch = 0
        self._taken: set[int] = set()
        # By mini-batch: complete groups that are not taken in this epoch.
        self._ready: list[set[int]] = [set() for _ in range(algebra.num_minibatches)]

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
        if self.is_complete or self._is_minibatch_taken:
            return True
        if self._whole_batch_first:
            return self._assembler.is_complete
        ready = self._ready_now()
        return self._next_in_order in ready if self._in_order else bool(ready)

    def take_next(self, num_ranks: int) -> Accumulate | Commit | None:
        """What the free gang of `num_ranks` does now, its groups counted as taken; `None` while it must wait or has
        trained all."""
        if self.is_complete or not self.has_next:
            return None
        if self._is_minibatch_taken:
            return Commit(self._batch, self.minibatch, self.epoch)
        groups = self._take_ready(num_ranks)
        self._taken.update(groups)
        return Accumulate(self._batch, self.minibatch, self.epoch, groups)

    def committed(self) -> None:
        self._taken.clear()
        self.minibatch += 1
        if self.minibatch == self._algebra.num_minibatches:
            self.minibatch = 0
            self.epoch += 1
            for minibatch, ready in enumerate(self._ready):
                first = minibatch * self._algebra.num_groups_per_minibatch
                ready.update(range(first, first + self._algebra.num_groups_per_minibatch))

    def num_ready_groups(self) -> int:
        """Groups that are complete and not yet taken in this epoch, mini-batches to come included."""
        if self.is_complete:
            return 0
        num_behind = self.minibatch * self._algebra.num_groups_per_minibatch + len(self._taken)
        return self._assembler.counts().num_complete - num_behind

    def waiting_cause(self) -> IdleCause:
        """Why a free trainer gang has nothing to do while this batch is not trained yet."""
        if self._whole_batch_first:
            num_awaited, counts = self._algebra.num_groups, self._assembler.counts()
        else:
            num_awaited, counts = self._algebra.num_groups_per_minibatch, self._assembler.counts(self.minibatch)
        if counts.num_generated == num_awaited:
            return IdleCause.REWARD_PENDING
        if self.num_ready_groups():
            return IdleCause.BATCH_BARRIER if self._whole_batch_first else IdleCause.HEAD_OF_LINE
        return IdleCause.GROUP_INCOMPLETE if counts.num_begun > counts.num_complete else IdleCause.NO_FRAGMENT_READY

    @property
    def _is_minibatch_taken(self) -> bool:
        return len(self._taken) == self._algebra.num_groups_per_minibatch

    @property
    def _next_in_order(self) -> int:
        return self.minibatch * self._algebra.num_groups_per_minibatch + len(self._taken)

    def _ready_now(self) -> set[int]:
        """Groups of the open mini-batch that are complete and not taken."""
        for group in self._assembler.take_newly_complete():
            self._ready[self._algebra.minibatch_of(group)].add(group)
        return self._ready[self.minibatch]

    def _take_ready(self, num_ranks: int) -> tuple[int, ...]:
        ready = self._ready_now()
        if not self._in_order:
            groups = tuple(sorted(ready))
        else:
            groups = tuple(takewhile(ready.__contains__, count(self._next_in_order)))
        num_left = self._algebra.num_groups_per_minibatch - len(self._taken)
        groups = groups[: bundle_size(self._algebra, len(groups), num_left, world_size=num_ranks, tsp=self._tsp)]
        ready.difference_update(groups)
        return groups
