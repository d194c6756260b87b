"""The admission concern: which batches are open, and when the next one may begin.

Strictly on-policy: a batch begins when the one before it is complete and published, so all its fragments are of the
version that will be trained. Pause and stop close admission; a batch under way is always finished.
"""

from dataclasses import dataclass

from worker.contracts.algebra import BatchAlgebra
from worker.pipeline.assembler import GroupAssembler
from worker.pipeline.training import Training
from worker.pipeline.types import EvaluationRequested


@dataclass(frozen=True, slots=True)
class OpenBatch:
    number: int
    policy_version: int
    assembler: GroupAssembler
    training: Training


@dataclass(frozen=True, slots=True)
class OpenEvaluation:
    request: EvaluationRequested
    assembler: GroupAssembler


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """What every batch of a run has in common."""

    algebra: BatchAlgebra
    gap: bool
    deterministic: bool
    whole_batch_advantages: bool

    def training_of(self, batch: int, assembler: GroupAssembler) -> Training:
        return Training(
            self.algebra,
            assembler,
            batch=batch,
            whole_batch_first=self.whole_batch_advantages or not self.gap,
            in_order=self.deterministic,
        )


class Admission:
    """Counts batches, from `first_batch` up to `num_batches` (the run's whole length, earlier attempts included)."""

    def __init__(self, first_batch: int, num_batches: int) -> None:
        if not 0 <= first_batch <= num_batches:
            raise ValueError(f"`first_batch` must be within 0 to {num_batches} (`num_batches`), got {first_batch}")
        self._num_batches = num_batches
        self._next_batch = first_batch
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
    def may_begin(self) -> bool:
        return self.more_to_come and self._next_batch == self.batches_completed

    def begin(self) -> int:
        """The number of the batch that begins now."""
        self._next_batch += 1
        return self._next_batch - 1
