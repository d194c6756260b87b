"""What a trainer rank keeps of the proximal policy while it trains on a stale batch.

```text
first mini-batch, first epoch      the policy being trained is the proximal one ─► log-ratios recorded
commit ─► recorded log-ratios shared by all ranks, current weights held ─► optimizer step
later mini-batches, first epoch    the held weights replay ─► log-ratios recorded
later epochs                       log-ratios as recorded, whichever rank trains the pair
```

So a batch of a single mini-batch costs no forward pass more. An algorithm that needs the proximal policy's means (Flow-
DPPO) replays in every optimizer step but the first: recorded means would take as much memory as the trajectories.

Invariant: the proximal policy is the weights before the batch's first optimizer step, for all of its pairs.
"""

from collections.abc import Callable, Sequence

import torch

from worker.contracts.names import StaleClip
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import MinibatchError
from worker.engine.trainer.learners.base import MicroBatchLoss, ProximalInput, ProximalSource
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import MicroBatch


class ProximalRecord:
    """The log-ratios of the proximal to the behaviour policy of one stale batch, and where those of a micro-batch come
    from."""

    def __init__(
        self, spec: RunSpec, *, device: torch.device, hold_proximal: Callable[[], None], is_shared: bool
    ) -> None:
        """
        Args:
            spec: the run's.
            device: of the model.
            hold_proximal: makes the older policy predict with the current weights.
            is_shared: there are other trainer ranks, with which log-ratios are exchanged.
        """
        algebra = self._algebra = spec.algebra
        self._clips_around_proximal = (
            spec.algorithm.is_policy_gradient and spec.pipeline.stale_clip is StaleClip.PROXIMAL
        )
        self._hold_proximal = hold_proximal
        self._is_shared = is_shared
        always_replays = spec.algorithm.needs.proximal_means
        self._records = algebra.num_epochs > 1 and not always_replays
        self._replays = algebra.num_minibatches > 1 or (always_replays and algebra.num_epochs > 1)
        pairs_per_group = algebra.num_units_per_group * algebra.num_trained_denoising_steps
        self._log_ratios = torch.zeros(algebra.num_groups, pairs_per_group, device=device)
        self._batch: int | None = None
        """The stale batch whose first optimizer step was taken."""
        self._recorded: set[int] = set()
        """Its mini-batches whose log-ratios are recorded."""
        self._open: tuple[int, int] | None = None
        """Batch and mini-batch of the stale groups accumulated since the last optimizer step."""
        self._source = ProximalSource.NONE

    def open(self, groups: Sequence[GroupBatch], *, is_fresh: bool, staleness: int) -> None:
        """Find where the log-ratios of `groups`, all of one mini-batch, come from.

        Args:
            groups: which are about to be accumulated.
            is_fresh: no optimizer step was taken on their batch yet.
            staleness: as in `TrainerRank.accumulate`.

        Raises:
            MinibatchError: for groups of a stale batch whose first optimizer step this rank has not taken.
        """
        self._source = ProximalSource.NONE
        if not (staleness and self._clips_around_proximal):
            return
        batch, minibatch = groups[0].batch, self._algebra.minibatch_of(groups[0].group)
        if is_fresh:
            self._source, self._batch = ProximalSource.CURRENT_POLICY, None
            self._recorded.clear()
        elif batch != self._batch:
            raise MinibatchError(
                f"`fresh` must be set for the first mini-batch of stale batch {batch}, got false: "
                "its proximal policy is the weights before its first optimizer step"
            )
        elif minibatch in self._recorded:
            self._source = ProximalSource.RECORDED
        else:
            self._source = ProximalSource.REPLAYED
        if self._open is None:
            self._open = batch, minibatch
            if self._source is not ProximalSource.RECORDED:
                self._rows(minibatch).fill_(-torch.inf)

    def input_of(self, micro: MicroBatch) -> ProximalInput:
        """What the learner is given for a micro-batch of the groups last opened."""
        if self._source is ProximalSource.RECORDED:
            return ProximalInput(source=self._source, log_ratios=self._log_ratios[micro.group, list(micro.pairs)])
        return ProximalInput(source=self._source)

    def record(self, micro: MicroBatch, result: MicroBatchLoss) -> None:
        """Keep a micro-batch's log-ratios for later epochs."""
        if self._records and result.proximal_log_ratios is not None:
            self._log_ratios[micro.group, list(micro.pairs)] = result.proximal_log_ratios

    def before_step(self) -> None:
        """Share the open mini-batch's log-ratios and hold the proximal policy; called on every rank before the
        mini-batch's optimizer step."""
        if self._open is None:
            return
        batch, minibatch = self._open
        if batch != self._batch:
            self._batch = batch
            if self._replays:
                self._hold_proximal()
        if self._records and minibatch not in self._recorded:
            if self._is_shared:
                # Each pair was recorded by the rank that trained it; the others hold -inf.
                rows = self._rows(minibatch)
                torch.distributed.all_reduce(rows, op=torch.distributed.ReduceOp.MAX)
            self._recorded.add(minibatch)
        self.close()

    def close(self) -> None:
        """Forget the open mini-batch, after its optimizer step or without one."""
        self._open, self._source = None, ProximalSource.NONE

    def _rows(self, minibatch: int) -> torch.Tensor:
        """(groups, pairs): a view of the log-ratios of a mini-batch."""
        size = self._algebra.num_groups_per_minibatch
        return self._log_ratios[minibatch * size : (minibatch + 1) * size]
