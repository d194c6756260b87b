"""Training: how far one batch is trained, and which micro-batches are next.

    complete groups ──► units of work, in order ──► any rank's share ──► … ──► all taken, all ranks free ──► commit

For each epoch, for each mini-batch in index order: accumulate all its groups, then commit. Weights change at a commit,
so a mini-batch never begins before the previous one is committed, nor an epoch before the previous one is complete.
Groups that are skipped for want of spread are left out; a mini-batch of nothing else is passed over without a commit.
Invariant: every micro-batch of every group that is not skipped is taken exactly once in each epoch, and a commit closes
complete mini-batches only.
"""

import heapq
from collections.abc import Sequence

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.spans import IdleCause
from worker.scheduling.core.batching import (
    bundle_size,
    num_micro_batches,
    num_micro_batches_per_group,
    num_micro_batches_per_unit,
    shares_in_step,
)
from worker.scheduling.core.group_assembler import GroupAssembler
from worker.scheduling.core.messages import Accumulate, Commit, MicroBatchKey
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
            tsp: whether micro-batches of one trajectory may go to different ranks.
        """
        self._algebra = algebra
        self._assembler = assembler
        self._batch = batch
        self._waits_for_whole_batch = waits_for_whole_batch
        self._in_order = in_order
        self._tsp = tsp
        self._num_per_group = num_micro_batches_per_group(algebra)
        self._num_per_unit = num_micro_batches_per_unit(algebra, tsp=tsp)
        self.epoch = 0
        self.minibatch = 0
        self.skipped = SkippedGroups(algebra)
        """The groups that no epoch trains on."""
        self._num_taken = 0
        """Micro-batches of the open mini-batch that ranks have taken."""
        self._begun: list[int] = []
        """Groups of the open mini-batch of which a micro-batch is taken, in that order."""
        self._next_index = self._num_per_group
        """Index of the first micro-batch of the last group begun that is not taken."""
        # By mini-batch: complete groups neither begun in this epoch nor skipped; a heap, the lowest index first.
        self._ready: list[list[int]] = [[] for _ in range(algebra.num_minibatches)]
        self._num_in_order = 0
        """With `in_order`: groups of the open mini-batch, from the first one on, that are complete."""

    @property
    def taken(self) -> frozenset[int]:
        """Groups of the open mini-batch whose gradients are accumulated or being accumulated, the last in part."""
        return frozenset(self._begun)

    @property
    def is_complete(self) -> bool:
        """Whether every epoch is committed."""
        return self.epoch == self._algebra.num_epochs

    @property
    def has_open_gradients(self) -> bool:
        """Whether ranks hold gradients of a mini-batch that is not committed."""
        return bool(self._num_taken)

    @property
    def has_next(self) -> bool:
        """Whether a free gang would have something to do: micro-batches to accumulate, a commit, or the batch's
        snapshot."""
        return self.is_complete or self.is_minibatch_taken or self.num_units_ready > 0

    @property
    def is_minibatch_taken(self) -> bool:
        """Whether every micro-batch of the open mini-batch is accumulated or being accumulated."""
        return self._num_taken == self._num_groups_to_train * self._num_per_group

    @property
    def num_units_ready(self) -> int:
        """The number of units of work that ranks can take now: chunks of members with all their denoising steps, or
        single micro-batches with `tsp`."""
        if self.is_complete:
            return 0
        num_left = self._num_per_group - self._next_index
        return (num_left + self._num_groups_ready() * self._num_per_group) // self._num_per_unit

    @property
    def num_units_left(self) -> int:
        """The number of units of the open mini-batch that are not taken, ready or not."""
        all_of_it = self._num_groups_to_train * self._num_per_group
        return (all_of_it - self._num_taken) // self._num_per_unit

    def take(self, lane: str, num_units: int) -> Accumulate:
        """The next `num_units` of those ready, for a free rank; they count as taken."""
        keys: list[MicroBatchKey] = []
        num_left = num_units * self._num_per_unit
        while num_left:
            if self._next_index == self._num_per_group:
                self._begun.append(heapq.heappop(self._ready[self.minibatch]))
                self._next_index = 0
            last = min(self._next_index + num_left, self._num_per_group)
            keys += [MicroBatchKey(self._begun[-1], index) for index in range(self._next_index, last)]
            num_left -= last - self._next_index
            self._next_index = last
        self._num_taken += len(keys)
        return Accumulate(lane, self._batch, self.minibatch, self.epoch, tuple(keys))

    def take_in_step(self, lanes: Sequence[str]) -> list[Accumulate]:
        """For each of the ranks, all of them free, equally many passes over the next bundle of groups that are ready,
        padding included; nothing where none is. The groups count as taken."""
        num_ready = self._num_groups_ready()
        if not num_ready:
            return []
        num_left = self._num_groups_to_train - len(self._begun)
        number = bundle_size(self._algebra, num_ready, num_left, world_size=len(lanes), tsp=self._tsp)
        groups = [heapq.heappop(self._ready[self.minibatch]) for _ in range(number)]
        self._begun += groups
        self._num_taken += number * self._num_per_group
        num_each = num_micro_batches(self._algebra, number, world_size=len(lanes), tsp=self._tsp)
        shares = shares_in_step(self._algebra, groups, world_size=len(lanes), tsp=self._tsp)
        at = self._batch, self.minibatch, self.epoch
        return [Accumulate(lane, *at, share, num_each - len(share)) for lane, share in zip(lanes, shares, strict=True)]

    def commit(self) -> Commit:
        """The commit of the open mini-batch, which must be taken as a whole."""
        return Commit(self._batch, self.minibatch, self.epoch, self.skipped.num_in(self.minibatch))

    def take_complete_groups(self) -> None:
        """Take in the groups that became complete, as ready or as skipped; to be called whenever there are any."""
        for group in self._assembler.take_newly_complete():
            if self._algebra.filter_groups and not self._assembler.has_spread(group):
                self.skipped.add(group)
            else:
                heapq.heappush(self._ready[self._algebra.minibatch_of(group)], group)
        self._pass_over_skipped()

    def committed(self) -> None:
        """Proceed to the next mini-batch that is not passed over, or to the next epoch, in which every group is ready
        from the start."""
        self._proceed()
        self._pass_over_skipped()

    def _proceed(self) -> None:
        self._begun.clear()
        self._num_taken, self._next_index, self._num_in_order = 0, self._num_per_group, 0
        epoch, self.minibatch = next_minibatch(self.epoch, self.minibatch, self._algebra.num_minibatches)
        if epoch > self.epoch:
            self.epoch = epoch
            for minibatch in range(len(self._ready)):
                groups = self._groups_of(minibatch)
                self._ready[minibatch] = [group for group in groups if group not in self.skipped]

    def _pass_over_skipped(self) -> None:
        while not self.is_complete and self.skipped.fill(self.minibatch):
            self._proceed()

    def _groups_of(self, minibatch: int) -> range:
        first = minibatch * self._algebra.num_groups_per_minibatch
        return range(first, first + self._algebra.num_groups_per_minibatch)

    @property
    def _num_groups_to_train(self) -> int:
        """The number of groups of the open mini-batch that are not known to be skipped."""
        return self._algebra.num_groups_per_minibatch - self.skipped.num_in(self.minibatch)

    def num_ready_groups(self) -> int:
        """The number of groups that are complete and not yet taken in this epoch, later mini-batches included and
        skipped groups left out."""
        if self.is_complete:
            return 0
        num_before = self.minibatch * self._algebra.num_groups_per_minibatch - self.skipped.num_before(self.minibatch)
        return self._assembler.counts().num_complete - len(self.skipped) - num_before - len(self._begun)

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

    def _num_groups_ready(self) -> int:
        """The number of groups of the open mini-batch that are complete, not begun, and not to wait for others."""
        if self._waits_for_whole_batch and not self._assembler.is_complete:
            return 0
        ready = self._ready[self.minibatch]
        if not self._in_order:
            return len(ready)
        groups = self._groups_of(self.minibatch)
        while self._num_in_order < len(groups) and self._assembler.is_group_complete(groups[self._num_in_order]):
            self._num_in_order += 1
        num_skipped = sum(group in self.skipped for group in groups[: self._num_in_order])
        return self._num_in_order - num_skipped - len(self._begun)
