"""What a trainer rank keeps of the proximal policy while it trains on a stale batch, or on any batch where it computes
the old log-probs itself (`sampling.old_log_probs: trainer`).

```text
first mini-batch, first epoch      the policy being trained is the proximal one ─► log-ratios recorded
commit ─► what ranks recorded shared by all of them, current weights held ─► optimizer step
later mini-batches, first epoch    the held weights replay ─► log-ratios recorded
later epochs                       log-ratios as recorded, whichever rank trains the pair
```

So a batch of a single mini-batch costs no forward pass more. An algorithm that needs the proximal policy's means (Flow-
DPPO, and GRPO-Guard where old log-probs are recomputed) replays in every optimizer step but the first: recorded means
would take as much memory as the trajectories.

Ranks may take other micro-batches in each epoch, or none of a mini-batch, and wait for each other in `commit` alone:
what a rank has to know of the others' passes it learns there, before the step that changes the weights.

Invariant: the proximal policy is the weights before the batch's first optimizer step, for all of its pairs, on every
rank. Weights are loaded between batches only, so the first step after that is the first one on its batch.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from worker.contracts.names import StaleClip
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import MinibatchError
from worker.engine.trainer.learners.base import MicroBatchLoss, ProximalInput, ProximalSource
from worker.engine.types import GroupBatch
from worker.scheduling.core.batching import MicroBatch

_NONE = -1
"""Stands for "none" where ranks exchange numbers of batches, which are ≥ 0."""


class _OpenMinibatch(NamedTuple):
    """The mini-batch that an optimizer step is to be taken on."""

    batch: int
    minibatch: int
    is_first: bool
    """No optimizer step was taken on the batch yet."""


class ProximalRecord:
    """The log-ratios of the proximal to the behaviour policy of one batch, and where those of a micro-batch come
    from."""

    def __init__(
        self, spec: RunSpec, *, device: torch.device, hold_proximal: Callable[[], None], world_size: int
    ) -> None:
        """
        Args:
            spec: the run's.
            device: of the model.
            hold_proximal: makes the older policy predict with the current weights.
            world_size: the number of trainer ranks, which exchange log-ratios.
        """
        algebra = self._algebra = spec.algebra
        self._clips_around_proximal = (
            spec.pipeline.max_staleness > 0
            and spec.algorithm.is_policy_gradient
            and spec.pipeline.stale_clip is StaleClip.PROXIMAL
        )
        self._recomputes_fresh = spec.recomputes_log_probs
        self._device = device
        self._hold_proximal = hold_proximal
        self._world_size = world_size
        needs = spec.algorithm.needs
        always_replays = needs.old_means if self._recomputes_fresh else needs.proximal_means
        self._records = algebra.num_epochs > 1 and not always_replays
        self._replays = algebra.num_minibatches > 1 or (always_replays and algebra.num_epochs > 1)
        self._log_ratios = torch.zeros(algebra.num_groups, algebra.num_pairs_per_group, device=device)
        self._stepped_batch: int | None = None
        """The batch whose first optimizer step was taken last, since weights were loaded."""
        self._recorded: set[int] = set()
        """Its mini-batches whose log-ratios every rank has."""
        self._open: _OpenMinibatch | None = None
        """What this rank has accumulated of since the last optimizer step."""
        self._open_log_ratios: list[tuple[MicroBatch, torch.Tensor]] = []
        """This rank's, to be recorded when the open mini-batch is closed by its optimizer step."""
        self._source = ProximalSource.NONE

    def open(self, groups: Sequence[GroupBatch], *, is_fresh: bool, staleness: int) -> None:
        """Find where the log-ratios of `groups`, all of one mini-batch, come from.

        Args:
            groups: which are about to be accumulated.
            is_fresh: no optimizer step was taken on their batch yet.
            staleness: as in `TrainerRank.accumulate`.
        """
        self._source = ProximalSource.NONE
        if not (self._clips_around_proximal if staleness else self._recomputes_fresh):
            return
        batch, minibatch = groups[0].batch, self._algebra.minibatch_of(groups[0].group)
        self._open = _OpenMinibatch(batch, minibatch, is_fresh or batch != self._stepped_batch)
        if self._open.is_first:
            self._source = ProximalSource.CURRENT_POLICY
        elif minibatch in self._recorded:
            self._source = ProximalSource.RECORDED
        else:
            self._source = ProximalSource.REPLAYED

    def input_of(self, micro: MicroBatch) -> ProximalInput:
        """What the learner is given for a micro-batch of the groups last opened."""
        if self._source is ProximalSource.RECORDED:
            recorded = self._log_ratios[micro.group, list(micro.pairs)]
            # Padding may go over a skipped group, of which nothing is recorded: infinity times its weight 0 is NaN.
            return ProximalInput(
                source=self._source, log_ratios=recorded if micro.weight else torch.zeros_like(recorded)
            )
        return ProximalInput(source=self._source)

    def record(self, micro: MicroBatch, result: MicroBatchLoss) -> None:
        """Keep a micro-batch's log-ratios for later epochs."""
        if self._records and self._source is not ProximalSource.RECORDED and result.proximal_log_ratios is not None:
            self._open_log_ratios.append((micro, result.proximal_log_ratios))

    def before_step(self) -> None:
        """Share the open mini-batch's log-ratios and hold the proximal policy; called on every rank before an optimizer
        step, whatever the rank has accumulated. A collective in runs that have a proximal policy.

        Raises:
            MinibatchError: on every rank, when ranks have different mini-batches open, or one was loaded while others
                trained on: the latter has other weights.
        """
        opened = self._agreed() if self._clips_around_proximal or self._recomputes_fresh else None
        if opened is None:
            return
        if opened.is_first:
            self._stepped_batch = opened.batch
            self._recorded.clear()
            if self._replays:
                self._hold_proximal()
        if self._records and opened.minibatch not in self._recorded:
            self._share(opened.minibatch)
            self._recorded.add(opened.minibatch)
        self.close()

    def close(self) -> None:
        """Forget the open mini-batch, after its optimizer step or without one."""
        self._open, self._source = None, ProximalSource.NONE
        self._open_log_ratios.clear()

    def reset(self) -> None:
        """Forget the batch: other weights are about to be loaded."""
        self.close()
        self._stepped_batch = None
        self._recorded.clear()

    def _agreed(self) -> _OpenMinibatch | None:
        """The mini-batch that any of the ranks has open. Raises `MinibatchError` as `before_step`."""
        if self._world_size == 1:
            return self._open
        stepped = _NONE if self._stepped_batch is None else self._stepped_batch
        own = torch.tensor([stepped, *(self._open or (_NONE, _NONE, False))], dtype=torch.int64, device=self._device)
        known = [torch.empty_like(own) for _ in range(self._world_size)]
        torch.distributed.all_gather(known, own)
        ranks: list[list[int]] = torch.stack(known).tolist()
        opened = {tuple(values) for _, *values in ranks if values[0] != _NONE}
        if len(opened) > 1 or len({stepped for stepped, *_ in ranks}) > 1:
            raise MinibatchError(
                "between two optimizer steps all ranks must accumulate one mini-batch, after the same steps, got from "
                f"each (last batch, batch, mini-batch, whether it takes its batch's first step): {ranks}"
            )
        return next((_OpenMinibatch(batch, minibatch, bool(is_first)) for batch, minibatch, is_first in opened), None)

    def _share(self, minibatch: int) -> None:
        """Give every rank the log-ratios of a mini-batch. Each pair was trained by one rank; the others hold -inf."""
        size = self._algebra.num_groups_per_minibatch
        rows = self._log_ratios[minibatch * size : (minibatch + 1) * size]
        rows.fill_(-torch.inf)
        for micro, log_ratios in self._open_log_ratios:
            self._log_ratios[micro.group, list(micro.pairs)] = log_ratios
        if self._world_size > 1:
            torch.distributed.all_reduce(rows, op=torch.distributed.ReduceOp.MAX)
