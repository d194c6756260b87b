"""Loads the checkpoint that an attempt starts from: at first the one it was given, after a rewind its own newest.

A checkpoint holds the trainer's state on all ranks, the run's position, and at staleness 1 the older version that the
next batch is generated with, which is made available for lanes to pull again.
"""

from collections.abc import Callable
from typing import Any

from worker.contracts.events import Phase, ResumedEvent
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.run_components import RunComponents
from worker.engine.control.status_reporter import StatusReporter
from worker.engine.control.trainer_gang import TrainerGang


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

    def restore(self) -> RunPosition:
        """Load the newest checkpoint, if there is one, and report the position that the run continues from.

        An attempt that starts from scratch reports nothing; one that was training and has no checkpoint reports that it
        is back at the start.
        """
        uri = self._components.checkpoints.latest or self._components.answer.resume_from
        position = RunPosition()
        if uri is not None:
            self._status.enter(Phase.RESTORE, uri)
            position = self._load(uri)
        elif not self._status.has_run:
            return position
        self._components.telemetry.client.emit(
            ResumedEvent,
            batch=position.batch,
            policy_version=position.policy_version,
            optimizer_step=position.optimizer_step,
        )
        return position

    def _load(self, uri: str) -> RunPosition:
        positions: list[RunPosition] = []

        def finish(client_state: dict[str, Any], behaviour: RemoteVersion | None) -> None:
            positions.append(RunPosition(**client_state))
            if behaviour is not None:
                self._components.versions.add_restored(behaviour)

        self._gang.load_checkpoint(uri, finish)
        self._wait_for_calls()
        return positions[0]
