"""Admission: which batches are open, and when the next one may begin.

At staleness 0 a batch begins when the one before it is complete and published, so all its fragments are of the version
that will be trained. At staleness 1 it may begin one batch earlier, but only if lanes that generate would idle
otherwise; its fragments are all of the version published then, which is one behind when they are trained. No batch
begins further ahead: that is the back-pressure. Invariant: a batch that has begun is always finished, also after a
pause or a stop.
"""

from dataclasses import dataclass
from typing import Literal, Self

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.group_assembler import GroupAssembler
from worker.scheduling.core.rules import prerequisite_batch, waits_for_whole_batch
from worker.scheduling.core.training import Training


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """A batch that has begun and is not trained yet."""

    number: int
    """The batch's number, from 0."""
    policy_version: int
    """The version that all its fragments are generated under."""
    assembler: GroupAssembler
    training: Training
    fragment_size: int
    """Trajectories of each of its fragments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """What every batch of a run has in common."""

    algebra: BatchAlgebra
    max_staleness: int
    waits_for_whole_batch: bool
    """No group is trained before every group of the batch is scored."""
    deterministic: bool
    """Groups are accumulated in index order."""
    tsp: bool
    """Micro-batches of one trajectory may go to different ranks (time-step parallelism)."""

    @classmethod
    def resolve(
        cls,
        pipeline: PipelineSpec,
        algebra: BatchAlgebra,
        advantage_std: Literal["group", "batch"],
        *,
        equal_counts: bool,
    ) -> Self:
        return cls(
            algebra=algebra,
            max_staleness=pipeline.max_staleness,
            waits_for_whole_batch=waits_for_whole_batch(pipeline, advantage_std, equal_counts=equal_counts),
            deterministic=pipeline.deterministic,
            tsp=pipeline.tsp,
        )

    def training_of(self, batch: int, assembler: GroupAssembler) -> Training:
        """The untrained state of batch number `batch`, whose groups `assembler` collects."""
        return Training(
            self.algebra,
            assembler,
            batch=batch,
            waits_for_whole_batch=self.waits_for_whole_batch,
            in_order=self.deterministic,
            tsp=self.tsp,
        )


class Admission:
    """Counts batches, from `first_batch` up to `num_batches` (the run's whole length, earlier attempts included)."""

    def __init__(self, first_batch: int, num_batches: int, max_staleness: int, *, first_batch_version: int) -> None:
        """
        Args:
            first_batch_version: the version that the first batch is generated under.

        Raises:
            ValueError: for a `first_batch` beyond the end of the run.
        """
        if not 0 <= first_batch <= num_batches:
            raise ValueError(
                f"`first_batch` must be within 0 to {num_batches} (`num_batches`), got {first_batch}: "
                "resume at a batch that is not trained yet"
            )
        self._num_batches = num_batches
        self.max_staleness = max_staleness
        self._first_batch = self._next_batch = first_batch
        self._first_batch_version = first_batch_version
        self.batches_completed = first_batch
        self.is_open = True

    @property
    def all_completed(self) -> bool:
        """Whether every batch of the run is trained and published."""
        return self.batches_completed == self._num_batches

    @property
    def more_to_come(self) -> bool:
        """Whether a batch will follow those that have begun."""
        return self.is_open and self._next_batch < self._num_batches

    @property
    def num_to_come(self) -> int:
        """The number of batches that will follow those that have begun."""
        return self._num_batches - self._next_batch if self.is_open else 0

    @property
    def is_throttled(self) -> bool:
        """Whether the next batch is kept from beginning by the staleness bound alone, one being ahead already."""
        return self.max_staleness > 0 and self.more_to_come and not self._is_prerequisite_complete

    def may_begin(self, *, generators_would_idle: bool) -> bool:
        """Whether the next batch may begin now. A batch begins ahead of time only to keep a lane from idling:
        `generators_would_idle` says that a lane which generates has nothing else to do."""
        if not self.more_to_come:
            return False
        is_nothing_open = self._next_batch == self.batches_completed
        return is_nothing_open or (self._is_prerequisite_complete and generators_would_idle)

    @property
    def _is_prerequisite_complete(self) -> bool:
        return prerequisite_batch(self._next_batch, self.max_staleness) < self.batches_completed

    def version_of(self, batch: int, policy_version: int) -> int:
        """The version that `batch` is generated under if it begins while `policy_version` is the one published last."""
        return self._first_batch_version if batch == self._first_batch else policy_version

    def begin(self) -> int:
        """Count the next batch as begun; returns its number."""
        self._next_batch += 1
        return self._next_batch - 1


def resumed_batch_version(begun_with: int | None, policy_version: int, max_staleness: int) -> int:
    """The version that a run's first batch continues with: the one it had begun with, or the oldest that the staleness
    bound allows, should the bound have been lowered since.

    Args:
        begun_with: the version the batch had begun with before the run was resumed; `None` if it had not.
        policy_version: the version published last.

    Raises:
        ValueError: for a version that is not published yet.
    """
    if begun_with is None:
        return policy_version
    if begun_with > policy_version:
        raise ValueError(
            f"`first_batch_version` must be ≤ `policy_version` ({policy_version}), got {begun_with}: "
            "no batch begins on a version that is not published yet"
        )
    return max(begun_with, policy_version - max_staleness)
