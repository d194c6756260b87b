"""What a run does between its batches: evaluations that are due, checkpoints, and what users have requested.

```text
batch trained (`Snapshotted`)  ─► checkpoint, where due or requested: gang reserved ─► saved ─► released
                                  or, where the trainer gang is to be replaced, reserved until that is done
version published              ─► evaluation, where due: generated before the next batch, or while that is trained
last batch, or stopped         ─► final checkpoint and download, last evaluation
```

A checkpoint that the storage does not take costs the run nothing but that checkpoint: it goes on, and the next one is
tried when it is due. The last one is tried again for a while; then the run ends with its download alone.

Invariant: a checkpoint is taken while no gradients are open, so the gang stays reserved from the snapshot until the
checkpoint is written; rollout and reward lanes work on meanwhile.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from worker.contracts.names import Tuning
from worker.contracts.states import Phase
from worker.engine.control.checkpoint_saver import CheckpointSaver, SaveRequest
from worker.engine.control.run_components import RunComponents
from worker.engine.control.status_reporter import StatusReporter
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.core.messages import EvaluationComplete, Measured, Purpose, TrainerReleased, TrainerReserved
from worker.scheduling.core.scheduler import Scheduler

logger = logging.getLogger(__name__)

RETRY_SECONDS = 10.0
"""How often the last checkpoint is tried again: somebody who frees space does so within minutes."""
RETRIES_SECONDS = 300.0
"""How long: the lanes wait meanwhile."""


class BatchBoundaries:
    """Starts evaluations and checkpoints, as events of the scheduler that was last given to `begin`."""

    def __init__(self, components: RunComponents, saver: CheckpointSaver, status: StatusReporter) -> None:
        self._components = components
        self._saver = saver
        self._status = status
        self._scheduler: Scheduler | None = None
        self.is_final_save_begun = False
        """Whether the run's last checkpoint and download have been started."""
        self.is_final_save_done = False
        """Whether the run's last checkpoint and download have been written."""
        self._unwritten: SaveRequest | None = None
        """The run's last checkpoint, where it could not be written and is to be tried again."""
        self._retry_at = self._retry_until = 0.0
        """By the driver's monotonic clock."""

    def begin(self, scheduler: Scheduler) -> None:
        """Serve a scheduler that starts between two batches; saves started for an earlier one no longer count."""
        self._scheduler = scheduler
        self.is_final_save_begun = self.is_final_save_done = False
        self._unwritten = None

    def batch_trained(self) -> None:
        """Save where that is due or requested, before the next batch opens gradients."""
        batch = self._components.metrics.position.batch
        is_last = batch == self._components.answer.spec.num_batches
        if not is_last and self._is_save_due:
            self.save(final=False)

    @property
    def _is_save_due(self) -> bool:
        """Whether users or the spec's cadence want a checkpoint of the batch trained last."""
        commands, checkpoints = self._components.commands, self._components.checkpoints
        return bool(commands.checkpoint_command_ids) or checkpoints.is_due(self._components.metrics.position.batch)

    def batch_complete(self) -> None:
        """Evaluate the batch's version where that is due, and save after the last batch."""
        batch = self._current.state.batches_completed
        is_last = batch == self._components.answer.spec.num_batches
        if self._components.evaluations.is_due(batch) and (is_last or not self._components.commands.stop_wanted):
            self.evaluate()
        if is_last:
            self.save(final=True)

    def start_requested(self) -> None:
        """Start what users have requested: a checkpoint once no lane is busy, samples of their own prompts at once. And
        try the last checkpoint again."""
        commands, state = self._components.commands, self._current.state
        if self._unwritten is not None and time.monotonic() >= self._retry_at:
            unwritten, self._unwritten = self._unwritten, None
            self._saver.save(unwritten)
        if commands.checkpoint_command_ids and not commands.stop_wanted and state.is_quiescent:
            self.save(final=False)
        request = self._components.evaluations.next_request(
            batch=state.batches_completed, policy_version=state.policy_version
        )
        if request is not None:
            self._current.apply(request, self._components.clock.now())

    # --- evaluations ------------------------------------------------------------------------------------------------

    def evaluate(self) -> None:
        """Start a held-out evaluation of the version published last. The run enters the phase of evaluating, unless it
        trains meanwhile."""
        scheduler, state = self._current, self._current.state
        request = self._components.evaluations.evaluation(
            batch=state.batches_completed, policy_version=state.policy_version
        )
        scheduler.apply(request, self._components.clock.now())
        is_beside_training = state.trains_on and not scheduler.evaluates_first
        self._status.enter(Phase.TRAIN if is_beside_training else Phase.EVALUATE)

    def evaluation_complete(self, action: EvaluationComplete) -> None:
        """Report the samples of an evaluation, or of a user's own prompts."""
        position = self._components.metrics.position
        self._components.evaluations.complete(action, position)
        is_training = position.batch < self._components.answer.spec.num_batches and not self.is_final_save_begun
        if action.purpose is Purpose.EVALUATE and is_training:
            self._status.enter(Phase.TRAIN)

    # --- checkpoints ------------------------------------------------------------------------------------------------

    def save_to_resize(self, then: Callable[[str], None], otherwise: Callable[[str], None]) -> None:
        """Reserve the gang and write a checkpoint, with the download only where one is due anyway. The gang stays
        reserved; `then` is called with the checkpoint's URI, or `otherwise` with the reason why there is none."""
        self._save(final=False, exports=self._is_save_due, then=then, otherwise=otherwise)

    def save(self, *, final: bool) -> None:
        """Reserve the gang, write the checkpoint and the download, release the gang."""
        self._save(final=final, exports=True, then=self._release, otherwise=self._release)

    def _release(self, uri_or_reason: str) -> None:
        self._current.apply(TrainerReleased(), self._components.clock.now())

    def _save(
        self, *, final: bool, exports: bool, then: Callable[[str], None], otherwise: Callable[[str], None]
    ) -> None:
        if final:
            self._status.enter(Phase.EXPORT)
            self.is_final_save_begun = True
            self._retry_until = time.monotonic() + RETRIES_SECONDS
        self._current.apply(TrainerReserved(), self._components.clock.now())
        command_ids = tuple(self._components.commands.checkpoint_command_ids)
        is_lora = self._components.answer.spec.tuning is Tuning.LORA
        position, behaviour = self._components.metrics.position, None
        version = self._current.state.next_batch_version
        if version < position.policy_version:
            # Generation of the next batch has begun on an older version: a resumed run must generate it with the same.
            position, behaviour = replace(position, next_batch_version=version), self._components.versions[version]
        save = SaveRequest(
            position=position,
            behaviour=behaviour,
            final=final,
            exports=exports and (is_lora or final or bool(command_ids)),
            then=partial(self._saved, command_ids, final, then),
            otherwise=lambda reason: self._not_saved(save, command_ids, otherwise, reason),
        )
        self._saver.save(save)

    def _saved(
        self, command_ids: tuple[str, ...], final: bool, then: Callable[[str], None], uri: str, seconds: float
    ) -> None:
        self._current.apply(Measured(GANG, CostKind.CHECKPOINT, seconds), self._components.clock.now())
        self.is_final_save_done = self.is_final_save_done or final
        for command_id in command_ids:
            self._components.commands.checkpoint_command_ids.remove(command_id)
            self._components.commands.answer(command_id, f"written to {uri}")
        then(uri)

    def _not_saved(
        self, save: SaveRequest, command_ids: tuple[str, ...], otherwise: Callable[[str], None], reason: str
    ) -> None:
        """Go on without a checkpoint that could not be written."""
        if save.final and time.monotonic() + RETRY_SECONDS < self._retry_until:
            logger.error("the run's last checkpoint is tried again in %.0f s: %s", RETRY_SECONDS, reason)
            self._unwritten, self._retry_at = save, time.monotonic() + RETRY_SECONDS
            return
        for command_id in command_ids:
            self._components.commands.checkpoint_command_ids.remove(command_id)
            self._components.commands.answer(command_id, reason, accepted=False)
        if not save.final:
            logger.error("the run goes on without this checkpoint: %s", reason)
            otherwise(reason)
            return
        logger.error("the run ends without its last checkpoint, with its download alone: %s", reason)
        self.is_final_save_done = True
        self._saver.export(save, partial(otherwise, reason))

    @property
    def _current(self) -> Scheduler:
        assert self._scheduler is not None, "`begin` was called first"
        return self._scheduler
