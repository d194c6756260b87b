"""The open mini-batch of a rank: which micro-batches it accumulated and how many pairs. It holds no tensors."""

from collections.abc import Sequence

from worker.contracts.algebra import BatchAlgebra
from worker.engine.errors import MinibatchError
from worker.engine.trainer.learners.passes import Passes
from worker.engine.types import GroupBatch
from worker.scheduling.core.messages import MicroBatchKey


class OpenMinibatch:
    """Counts this rank's share of what one optimizer step is taken over, from the first micro-batch to `close`."""

    def __init__(self, algebra: BatchAlgebra) -> None:
        self._algebra = algebra
        self._micro_batches: set[tuple[int, MicroBatchKey]] = set()
        self.num_pairs_total = 0
        """The number of pairs of the whole mini-batch over all ranks; 0 before this rank's first micro-batch."""
        self.num_pairs = 0
        """The number of pairs that this rank has accumulated so far."""
        self.num_passes = 0
        """The number of forward and backward passes of this rank so far, padding included."""

    def admit(self, groups: Sequence[GroupBatch], passes: Passes, num_pairs_total: int) -> None:
        """Count `passes` in, or none of them.

        Args:
            groups: the groups of one batch that the passes belong to.
            passes: micro-batches, and padding of weight 0.
            num_pairs_total: pairs of the whole mini-batch over all ranks.

        Raises:
            MinibatchError: as `TrainerRank.accumulate`.
        """
        if self.num_pairs_total and num_pairs_total != self.num_pairs_total:
            raise MinibatchError(
                f"`num_pairs_total` must stay {self.num_pairs_total} within a mini-batch, got {num_pairs_total}"
            )
        for group in groups:
            if len(group.advantages) != self._algebra.group_size:
                raise MinibatchError(
                    f"group {group.group} must have an advantage for each of its {self._algebra.group_size} "
                    f"trajectories, got {len(group.advantages)}"
                )
        keys = [(groups[0].batch, key) for key, micro in passes if micro.weight]
        repeated = self._micro_batches.intersection(keys)
        if repeated or len(set(keys)) < len(keys):
            raise MinibatchError(
                f"each micro-batch must enter a mini-batch once, got again: {sorted(repeated) or keys}"
            )
        num_pairs = self.num_pairs + sum(len(micro.pairs) for _, micro in passes if micro.weight)
        if num_pairs > num_pairs_total:
            raise MinibatchError(f"the mini-batch must hold {num_pairs_total} pairs, got {num_pairs}")
        self._micro_batches.update(keys)
        self.num_pairs, self.num_pairs_total = num_pairs, num_pairs_total
        self.num_passes += len(passes)

    def require_empty(self) -> None:
        """Raise `MinibatchError` when gradients are open, since a checkpoint does not hold them."""
        if self.num_passes:
            raise MinibatchError(
                f"a checkpoint must be taken between mini-batches, got {self.num_pairs} open pairs: "
                "commit or abort first"
            )

    def close(self) -> None:
        """Forget the micro-batches: the next `admit` opens another mini-batch."""
        self._micro_batches.clear()
        self.num_pairs = self.num_pairs_total = self.num_passes = 0


def require_complete(algebra: BatchAlgebra, num_pairs: int, num_pairs_total: int, num_skipped_groups: int) -> None:
    """Raise `MinibatchError` unless the `num_pairs` of all ranks are the whole mini-batch but its skipped groups."""
    num_skipped = num_skipped_groups * algebra.num_pairs_per_group
    if num_pairs + num_skipped != num_pairs_total or not num_pairs:
        raise MinibatchError(
            f"a mini-batch of {num_pairs_total} pairs must be complete at its optimizer step, got {num_pairs} and "
            f"{num_skipped} skipped: accumulate the missing micro-batches or abort"
        )
