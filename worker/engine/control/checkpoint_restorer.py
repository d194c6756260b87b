"""Loads the checkpoint that an attempt starts from: at first the one it was given, after a rewind its own newest.

A checkpoint holds the trainer's state, the run's position, and at staleness 1 the older version that the next batch is
generated with, which is made available for lanes to pull again. One that is damaged is passed over for the one before:
the run then repeats more batches, and the web marks what it had reported of them as superseded.
"""

import logging
import time
from collections.abc import Callable, Sequence

from worker.contracts.events import ResumedEvent
from worker.contracts.states import Phase
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import RestoredCheckpoint
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.run_components import RunComponents
from worker.engine.control.status_reporter import StatusReporter
from worker.engine.control.trainer_gang import TrainerGang

logger = logging.getLogger(__name__)


class CheckpointRestorer:
    """Restores the trainer gang. `wait_for_calls` returns when every actor call made so far has answered."""

    def __init__(
        self,
        components: RunComponents,
        gang: TrainerGang,
        status: StatusReporter,
        wait_for_calls: Callable[[], None],
    ) -> None:
        self._components = components
        self._gang = gang
        self._status = status
        self._wait_for_calls = wait_for_calls
        self.seconds: float | None = None
        """What the last checkpoint took to load; `None` before the first."""

    def restore(self) -> RunPosition:
        """Load the newest checkpoint that is not damaged, if there is any, and report the position that the run
        continues from.

        An attempt that starts from scratch reports nothing; one that was training and has no checkpoint reports that it
        is back at the start.
        """
        uris = self._components.checkpoints.candidates(self._components.answer.resume_from)
        position = RunPosition()
        if uris:
            self._status.enter(Phase.RESTORE, uris[0])
            position = self._load(uris)
        elif not self._status.has_run:
            return position
        self._components.telemetry.client.emit(
            ResumedEvent,
            batch=position.batch,
            policy_version=position.policy_version,
            optimizer_step=position.optimizer_step,
        )
        return position

    def _load(self, uris: Sequence[str]) -> RunPosition:
        """Load the first of `uris` that is not damaged. Raises `CheckpointError` as the trainer ranks do."""
        began_at = time.monotonic()
        positions: list[RunPosition] = []

        def finish(restored: RestoredCheckpoint, behaviour: RemoteVersion | None) -> None:
            if restored.uri != uris[0]:
                logger.warning("the run goes on from %s, since %s cannot be loaded", restored.uri, uris[0])
            self._components.checkpoints.passed_over(uris[: uris.index(restored.uri)])
            positions.append(RunPosition(**restored.client_state))
            if behaviour is not None:
                self._components.versions.add_restored(behaviour)

        self._gang.load_checkpoint(uris, finish)
        self._wait_for_calls()
        self.seconds = time.monotonic() - began_at
        return positions[0]
