"""The admission concern: which batches are open, and when the next one may begin.

At staleness 0 a batch begins when the one before it is complete and published, so all its fragments are of the version
that will be trained. At staleness 1 it may begin one batch earlier, but only for lanes that would idle otherwise; its
fragments are all of the version published then, which is one behind when they are trained. Further ahead nothing
begins: that is the back-pressure, and what has begun is always finished, pause and stop included.
"""

from dataclasses import dataclass
from typing import Literal, Self

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Placement
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.group_assembler import GroupAssembler
from worker.scheduling.core.training import Training


@dataclass(frozen=True, slots=True)
class OpenBatch:
    number: int
    policy_version: int
    assembler: GroupAssembler
    training: Training


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """What every batch of a run has in common."""

    algebra: BatchAlgebra
    max_staleness: int
    whole_batch_first: bool
    """Nothing is trained before the whole batch is scored."""
    deterministic: bool
    tsp: bool

    @classmethod
    def resolve(cls, pipeline: PipelineSpec, algebra: BatchAlgebra, advantage_std: Literal["group", "batch"]) -> Self:
        is_colocated = pipeline.placement is Placement.COLOCATED
        return cls(
            algebra=algebra,
            max_staleness=pipeline.max_staleness,
            whole_batch_first=advantage_std == "batch" or is_colocated or not pipeline.gap,
            deterministic=pipeline.deterministic,
            tsp=pipeline.tsp,
        )

    def training_of(self, batch: int, assembler: GroupAssembler) -> Training:
        return Training(
            self.algebra,
            assembler,
            batch=batch,
            whole_batch_first=self.whole_batch_first,
            in_order=self.deterministic,
            tsp=self.tsp,
        )


class Admission:
    """Counts batches, from `first_batch` up to `num_batches` (the run's whole length, earlier attempts included)."""

    def __init__(self, first_batch: int, num_batches: int, max_staleness: int, *, first_batch_version: int) -> None:
        """`first_batch_version`: what the first batch goes on with."""
        if not 0 <= first_batch <= num_batches:
            raise ValueError(f"`first_batch` must be within 0 to {num_batches} (`num_batches`), got {first_batch}")
        self._num_batches = num_batches
        self._max_staleness = max_staleness
        self._first_batch = self._next_batch = first_batch
        self._first_batch_version = first_batch_version
        self.batches_completed = first_batch
        self.is_open = True

    @property
    def all_completed(self) -> bool:
        return self.batches_completed == self._num_batches

    @property
    def more_to_come(self) -> bool:
        """Whether a batch will follow those that have begun."""
        return self.is_open and self._next_batch < self._num_batches

    @property
    def num_to_come(self) -> int:
        """Batches that will follow those that have begun."""
        return self._num_batches - self._next_batch if self.is_open else 0

    @property
    def is_throttled(self) -> bool:
        """Whether only the staleness bound keeps the next batch from beginning, though one is ahead already."""
        return self._max_staleness > 0 and self.more_to_come and self._num_ahead > self._max_staleness

    def may_begin(self, *, lanes_would_idle: bool) -> bool:
        """`lanes_would_idle`: generators have nothing else to do."""
        if not self.more_to_come:
            return False
        return self._num_ahead == 0 or (self._num_ahead <= self._max_staleness and lanes_would_idle)

    @property
    def _num_ahead(self) -> int:
        """Batches begun and not complete."""
        return self._next_batch - self.batches_completed

    def version_of(self, batch: int, policy_version: int) -> int:
        """What a batch begins on where `policy_version` is the one published last."""
        return self._first_batch_version if batch == self._first_batch else policy_version

    def begin(self) -> int:
        """The number of the batch that begins now."""
        self._next_batch += 1
        return self._next_batch - 1


def fresh_enough(begun_with: int | None, policy_version: int, max_staleness: int) -> int:
    """What a run's first batch goes on with: what it had begun with, unless that is older than the bound now allows.

    Raises `ValueError` for a version that is not published yet.
    """
    if begun_with is None:
        return policy_version
    if begun_with > policy_version:
        raise ValueError(
            f"`first_batch_version` must be ≤ `policy_version` ({policy_version}), got {begun_with}: "
            "no batch begins on a version that is not published yet"
        )
    return max(begun_with, policy_version - max_staleness)
