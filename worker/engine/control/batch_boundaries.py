"""What a run does between its batches: evaluations that are due, checkpoints, and what users asked for meanwhile.

```text
batch trained (`Snapshotted`)  ─► checkpoint, where the cadence or a user wants one: gang reserved ─► saved ─► released
version published              ─► evaluation, where it is due ─► its fragments go ahead of training
last batch, or stopped         ─► final checkpoint and download, last evaluation
```

Invariant: a checkpoint is taken while no gradients are open, so the gang is reserved from the snapshot on until it is
written; rollout and reward lanes go on meanwhile.
"""

from dataclasses import replace
from functools import partial

from worker.contracts.events import Phase
from worker.engine.control.checkpoint_saver import CheckpointSaver, SaveRequest
from worker.engine.control.run_components import RunComponents
from worker.engine.control.status_reporter import StatusReporter
from worker.scheduling.core.messages import EvaluationComplete, Purpose, TrainerReleased, TrainerReserved
from worker.scheduling.core.scheduler import Scheduler


class BatchBoundaries:
    """Of one scheduler at a time: `begin` with each new one."""

    def __init__(self, components: RunComponents, saver: CheckpointSaver, status: StatusReporter) -> None:
        self._components = components
        self._saver = saver
        self._status = status
        self._scheduler: Scheduler | None = None
        self.final_save_begun = False
        """The run's last checkpoint and download are being made, or are made."""
        self.final_save_done = False

    def begin(self, scheduler: Scheduler) -> None:
        """Follow a scheduler that starts from a boundary; what was under way for another one is forgotten."""
        self._scheduler = scheduler
        self.final_save_begun = self.final_save_done = False

    def batch_trained(self) -> None:
        """Save where that is due, before the next batch opens gradients."""
        batch = self._components.metrics.position.batch
        is_last = batch == self._components.answer.spec.num_batches
        if not is_last and (self._components.commands.checkpoint_orders or self._components.checkpoints.is_due(batch)):
            self.save(final=False)

    def batch_complete(self) -> None:
        """Evaluate the batch's version where that is due, and save the last one."""
        batch = self._current.state.batches_completed
        is_last = batch == self._components.answer.spec.num_batches
        if self._components.evaluations.is_due(batch) and (is_last or not self._components.commands.stop_wanted):
            self.evaluate()
        if is_last:
            self.save(final=True)

    def follow_orders(self) -> None:
        """Begin what users asked for: a checkpoint once nothing is under way, samples of their own prompts at once."""
        commands, state = self._components.commands, self._current.state
        if commands.checkpoint_orders and not commands.stop_wanted and state.is_quiescent:
            self.save(final=False)
        request = self._components.evaluations.next_request(
            batch=state.batches_completed, policy_version=state.policy_version
        )
        if request is not None:
            self._current.apply(request, self._components.clock.now())

    # --- evaluations ------------------------------------------------------------------------------------------------

    def evaluate(self) -> None:
        """Ask the scheduler for a held-out evaluation of the version published last."""
        state = self._current.state
        request = self._components.evaluations.evaluation(
            batch=state.batches_completed, policy_version=state.policy_version
        )
        self._current.apply(request, self._components.clock.now())
        self._status.enter(Phase.EVALUATE)

    def evaluation_complete(self, action: EvaluationComplete) -> None:
        """Report what an evaluation, or a user's own prompts, gave."""
        position = self._components.metrics.position
        self._components.evaluations.complete(action, position)
        goes_on = position.batch < self._components.answer.spec.num_batches and not self.final_save_begun
        if action.purpose is Purpose.EVALUATE and goes_on:
            self._status.enter(Phase.TRAIN)

    # --- checkpoints ------------------------------------------------------------------------------------------------

    def save(self, *, final: bool) -> None:
        """Reserve the gang, write checkpoint and download, release it."""
        if final:
            self._status.enter(Phase.EXPORT)
            self.final_save_begun = True
        self._current.apply(TrainerReserved(), self._components.clock.now())
        orders = tuple(self._components.commands.checkpoint_orders)
        position, behaviour = self._components.metrics.position, None
        version = self._current.state.next_batch_version
        if version < position.policy_version:
            # The batch has begun on an older version: after a resume it must be drawn by that one again.
            position, behaviour = replace(position, next_batch_version=version), self._components.versions[version]
        then = partial(self._saved, orders, final)
        request = SaveRequest(position=position, behaviour=behaviour, final=final, ordered=bool(orders), then=then)
        self._saver.save(request)

    def _saved(self, orders: tuple[str, ...], final: bool, uri: str) -> None:
        self.final_save_done = self.final_save_done or final
        for command_id in orders:
            self._components.commands.checkpoint_orders.remove(command_id)
            self._components.commands.answer(command_id, f"written to {uri}")
        self._current.apply(TrainerReleased(), self._components.clock.now())

    @property
    def _current(self) -> Scheduler:
        assert self._scheduler is not None, "asked for after `begin`"
        return self._scheduler
