"""Training: how far one batch is trained, and what the trainer gang does next.

For each epoch, for each mini-batch in index order: accumulate all its groups, then commit. Weights change at a commit,
so a mini-batch never begins before the previous one is committed, nor an epoch before the previous one is complete.
Groups that are skipped for want of spread are left out; a mini-batch of nothing else is passed over without a commit.
Invariant: every group that is not skipped is accumulated exactly once in each epoch, and a commit closes complete
mini-batches only.
"""

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.spans import IdleCause
from worker.scheduling.core.batching import bundle_size
from worker.scheduling.core.group_assembler import GroupAssembler
from worker.scheduling.core.messages import Accumulate, Commit
from worker.scheduling.core.rules import next_minibatch
from worker.scheduling.core.skipped_groups import SkippedGroups


class Training:
    """The training progress of one batch."""

    def __init__(
        self,
        algebra: BatchAlgebra,
        assembler: GroupAssembler,
        *,
        batch: int,
        waits_for_whole_batch: bool,
        in_order: bool,
        tsp: bool,
    ) -> None:
        """
        Args:
            assembler: collects the batch's groups.
            batch: the batch's number.
            waits_for_whole_batch: train nothing before every group of the batch is scored.
            in_order: accumulate groups by index, so a complete group waits for those ahead of it.
            tsp: whether micro-batches of one trajectory may go to different ranks, which decides how ranks are padded.
        """
        self._algebra = algebra
        self._assembler = assembler
        self._batch = batch
        self._waits_for_whole_batch = waits_for_whole_batch
        self._in_order = in_order
        self._tsp = tsp
        self.epoch = 0
        self.minibatch = 0
        self.skipped = SkippedGroups(algebra)
        """The groups that no epoch trains on."""
        self._taken: set[int] = set()
        # By mini-batch: complete groups that are neither taken in this epoch nor skipped.
        self._ready: list[set[int]] = [set() for _ in range(algebra.num_minibatches)]

    @property
    def taken(self) -> frozenset[int]:
        """Groups of the open mini-batch whose gradients are accumulated or being accumulated."""
        return frozenset(self._taken)

    @property
    def is_complete(self) -> bool:
        """Whether every epoch is committed."""
        return self.epoch == self._algebra.num_epochs

    @property
    def has_open_gradients(self) -> bool:
        """Whether the gang holds gradients of a mini-batch that is not committed."""
        return bool(self._taken)

    @property
    def has_next(self) -> bool:
        """Whether a free gang would have something to do: groups to accumulate, a commit, or the batch's snapshot."""
        if self.is_complete or self._is_minibatch_taken:
            return True
        if self._waits_for_whole_batch:
            return self._assembler.is_complete
        return bool(self._next_in_order() if self._in_order else self._ready[self.minibatch])

    def take_next(self, num_ranks: int) -> Accumulate | Commit | None:
        """The next action of the free gang of `num_ranks`, its groups counted as taken; `None` while the gang must wait
        and once the batch is trained."""
        if self.is_complete or not self.has_next:
            return None
        if self._is_minibatch_taken:
            return Commit(self._batch, self.minibatch, self.epoch, self.skipped.num_in(self.minibatch))
        groups = self._take_ready(num_ranks)
        self._taken.update(groups)
        return Accumulate(self._batch, self.minibatch, self.epoch, groups)

    def take_complete_groups(self) -> None:
        """Take in the groups that became complete, as ready or as skipped; to be called whenever there are any."""
        for group in self._assembler.take_newly_complete():
            if self._algebra.filter_groups and not self._assembler.has_spread(group):
                self.skipped.add(group)
            else:
                self._ready[self._algebra.minibatch_of(group)].add(group)
        self._pass_over_skipped()

    def committed(self) -> None:
        """Proceed to the next mini-batch that is not passed over, or to the next epoch, in which every group is ready
        from the start."""
        self._taken.clear()
        self._proceed()
        self._pass_over_skipped()

    def _proceed(self) -> None:
        epoch, self.minibatch = next_minibatch(self.epoch, self.minibatch, self._algebra.num_minibatches)
        if epoch > self.epoch:
            self.epoch = epoch
            for minibatch, ready in enumerate(self._ready):
                ready.update(group for group in self._groups_of(minibatch) if group not in self.skipped)

    def _pass_over_skipped(self) -> None:
        while not self.is_complete and self.skipped.fill(self.minibatch):
            self._proceed()

    def _groups_of(self, minibatch: int) -> range:
        first = minibatch * self._algebra.num_groups_per_minibatch
        return range(first, first + self._algebra.num_groups_per_minibatch)

    def num_ready_groups(self) -> int:
        """The number of groups that are complete and not yet taken in this epoch, later mini-batches included and
        skipped groups left out."""
        if self.is_complete:
            return 0
        num_before = self.minibatch * self._algebra.num_groups_per_minibatch - self.skipped.num_before(self.minibatch)
        return self._assembler.counts().num_complete - len(self.skipped) - num_before - len(self._taken)

    def waiting_cause(self) -> IdleCause:
        """Why a free trainer gang has nothing to do while this batch is not trained yet."""
        if self._waits_for_whole_batch:
            num_awaited, counts = self._algebra.num_groups, self._assembler.counts()
        else:
            num_awaited, counts = self._algebra.num_groups_per_minibatch, self._assembler.counts(self.minibatch)
        if counts.num_generated == num_awaited:
            return IdleCause.REWARD_PENDING
        if self.num_ready_groups():
            return IdleCause.BATCH_BARRIER if self._waits_for_whole_batch else IdleCause.HEAD_OF_LINE
        return IdleCause.GROUP_INCOMPLETE if counts.num_begun > counts.num_complete else IdleCause.NO_FRAGMENT_READY

    @property
    def _num_left(self) -> int:
        """The number of groups of the open mini-batch that are neither taken nor known to be skipped."""
        return self._algebra.num_groups_per_minibatch - len(self._taken) - self.skipped.num_in(self.minibatch)

    @property
    def _is_minibatch_taken(self) -> bool:
        return not self._num_left

    def _next_in_order(self) -> tuple[int, ...]:
        """The ready groups of the open mini-batch up to the first that is not complete, by index."""
        groups: list[int] = []
        for group in self._groups_of(self.minibatch):
            if group in self._ready[self.minibatch]:
                groups.append(group)
            elif group not in self._taken and group not in self.skipped:
                break
        return tuple(groups)

    def _take_ready(self, num_ranks: int) -> tuple[int, ...]:
        ready = self._ready[self.minibatch]
        groups = self._next_in_order() if self._in_order else tuple(sorted(ready))
        groups = groups[: bundle_size(self._algebra, len(groups), self._num_left, world_size=num_ranks, tsp=self._tsp)]
        ready.difference_update(groups)
        return groups
