"""The open mini-batch of a rank: which groups were accumulated and how many pairs are missing. It holds no tensors."""

from collections.abc import Mapping, Sequence

from worker.contracts.algebra import BatchAlgebra
from worker.engine.errors import MinibatchError
from worker.engine.trainer.learners.base import PreparedGroup
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import monitored_indices


class OpenMinibatch:
    """Counts what one optimizer step is taken over, from the first group to `close`."""

    def __init__(self, algebra: BatchAlgebra) -> None:
        self._algebra = algebra
        self._groups: set[tuple[int, int]] = set()
        self._num_pairs_total = 0
        self.num_pairs = 0
        """The number of pairs accumulated so far, over all ranks."""
        self._num_micro_batches = 0

    def admit(
        self, groups: Sequence[GroupBatch], prepared_of: Mapping[int, PreparedGroup], num_pairs_total: int
    ) -> None:
        """Count `groups` in, or none of them.

        Args:
            groups: complete groups of one batch.
            prepared_of: the same groups prepared by the learner, by group.
            num_pairs_total: pairs of the whole mini-batch over all ranks.

        Raises:
            MinibatchError: as `TrainerRank.accumulate`.
        """
        if self.num_pairs and num_pairs_total != self._num_pairs_total:
            raise MinibatchError(
                f"`num_pairs_total` must stay {self._num_pairs_total} within a mini-batch, got {num_pairs_total}"
            )
        keys = [(group.batch, group.group) for group in groups]
        repeated = self._groups.intersection(keys)
        if repeated or len(set(keys)) < len(keys):
            raise MinibatchError(f"each group must enter a mini-batch once, got again: {sorted(repeated) or keys}")
        pairs_per_group = self._pairs_per_group
        for group in groups:
            found = len(prepared_of[group.group])
            if found != pairs_per_group or len(group.advantages) != self._algebra.group_size:
                raise MinibatchError(
                    f"group {group.group} must hold {pairs_per_group} pairs of {self._algebra.group_size} "
                    f"trajectories, got {found} of {len(group.advantages)}"
                )
        num_pairs = self.num_pairs + len(groups) * pairs_per_group
        if num_pairs > num_pairs_total:
            raise MinibatchError(f"the mini-batch must hold {num_pairs_total} pairs, got {num_pairs}")
        self._groups.update(keys)
        self.num_pairs = num_pairs
        self._num_pairs_total = num_pairs_total

    @property
    def _pairs_per_group(self) -> int:
        return self._algebra.num_units_per_group * self._algebra.num_trained_denoising_steps

    def monitored(self, number: int, *, batch: int) -> frozenset[int]:
        """Which of the next `number` micro-batches of every rank are monitored, by index from 0; counts them in."""
        indices = monitored_indices(self._num_micro_batches, number, batch=batch)
        self._num_micro_batches += number
        return indices

    def require_complete(self, num_skipped_groups: int = 0) -> None:
        """Raise `MinibatchError` when pairs are missing beside those of `num_skipped_groups` groups."""
        num_skipped = num_skipped_groups * self._pairs_per_group
        if self.num_pairs + num_skipped != self._num_pairs_total or not self.num_pairs:
            raise MinibatchError(
                f"a mini-batch of {self._num_pairs_total} pairs must be complete at its optimizer step, "
                f"got {self.num_pairs} and {num_skipped} skipped: accumulate the missing groups or abort"
            )

    def require_empty(self) -> None:
        """Raise `MinibatchError` when gradients are open, since a checkpoint does not hold them."""
        if self.num_pairs:
            raise MinibatchError(
                f"a checkpoint must be taken between mini-batches, got {self.num_pairs} open pairs: "
                "commit or abort first"
            )

    def close(self) -> None:
        """Forget the groups: the next `admit` opens another mini-batch."""
        self._groups.clear()
        self.num_pairs = self._num_pairs_total = self._num_micro_batches = 0
