"""Forward and backward passes of micro-batches, in parts where the device has not enough memory for a whole one.

A micro-batch's loss is the sum of its pairs' losses, so its gradient is the sum of its parts'. Invariant: a pass that
has failed leaves nothing in the gradients. A failed forward pass has not touched them; a failed backward pass may have
added to some, which can be undone only while they hold nothing else.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch

from worker.engine.devices.smaller_calls import MemoryPlan, SmallerCalls, release_memory
from worker.engine.errors import OpenGradientsLostError
from worker.engine.trainer.learners.base import MicroBatchLoss
from worker.scheduling.core.batching import MicroBatch

ADVICE = (
    "lower `batch.micro_batch_size`, set `deepspeed.gradient_checkpointing: 1`, or shard or offload state by "
    "`deepspeed.config`"
)
HOLD_LESS = (
    "shard or offload state by `deepspeed.config`, set `deepspeed.offload_idle_states` where trainers generate, or "
    "take devices with more memory"
)
"""For work beside the passes, which no batch makes smaller."""


class TrainingPasses:
    """The passes of one rank between two optimizer steps."""

    def __init__(
        self,
        plan: MemoryPlan,
        *,
        backward: Callable[[torch.Tensor], None],
        drop_gradients: Callable[[], None],
        note_gradients: Callable[[bool], None],
        runs_in_lockstep: bool,
    ) -> None:
        """
        Args:
            plan: for reports.
            backward: accumulates the gradients of a loss.
            drop_gradients: drops all that was accumulated since the last step.
            note_gradients: called with whether there are gradients, when that changes.
            runs_in_lockstep: ranks make equally many passes, so that none may make more.
        """
        self._backward, self._drop_gradients, self._note_gradients = backward, drop_gradients, note_gradients
        self._calls = SmallerCalls(plan, "train on {} pairs in one pass", advice=ADVICE, is_exact=not runs_in_lockstep)
        self._has_gradients = False

    def close(self) -> None:
        """Called when the gradients were used or dropped."""
        self._has_gradients = False
        self._note_gradients(False)

    def run(
        self, micro: MicroBatch, forward: Callable[[MicroBatch], MicroBatchLoss], *, scale: float
    ) -> Iterator[tuple[MicroBatch, MicroBatchLoss]]:
        """Accumulate the gradients of `scale` × the sum of the losses of `micro`.

        Yields:
            The parts that were passed, all of `micro` mostly, and their losses.

        Raises:
            DeviceMemoryError: for too little memory even for one pair, or where passes may not be made smaller.
            OpenGradientsLostError: see there.
        """
        waiting: deque[Sequence[int]] = deque([micro.pairs])
        while waiting:
            part = replace(micro, pairs=tuple(self._calls.next_of(waiting)))
            failure, result = self._pass(part, forward, scale)
            if result is not None:
                yield part, result
                continue
            release_memory()
            self._calls.shrink(len(part.pairs), failure)
            waiting.appendleft(part.pairs)

    def _pass(
        self, part: MicroBatch, forward: Callable[[MicroBatch], MicroBatchLoss], scale: float
    ) -> tuple[str, MicroBatchLoss | None]:
        """The result of a pass; without one, torch's message. The exception is not kept: it holds what has failed."""
        try:
            result = forward(part)
        except torch.OutOfMemoryError as error:
            return str(error), None
        try:
            self._backward(result.losses.sum() * scale)
        except torch.OutOfMemoryError as error:
            if self._has_gradients:
                raise OpenGradientsLostError(
                    f"a backward pass over {len(part.pairs)} pairs ran out of memory over open gradients: {error}"
                ) from None
            self._drop_gradients()
            return str(error), None
        if not self._has_gradients:
            self._has_gradients = True
            self._note_gradients(True)
        return "", result
