"""A checkpoint that the storage does not take costs the run that checkpoint alone."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.scheduling.manual_executor import ManualExecutor
from tests.scheduling.strategies import algebra_of
from worker.contracts.events import CommandDoneEvent
from worker.contracts.names import Tuning
from worker.engine.control import batch_boundaries
from worker.engine.control.batch_boundaries import BatchBoundaries
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.checkpoint_saver import SaveRequest
from worker.engine.control.command_queue import CommandQueue
from worker.engine.control.status_reporter import StatusReporter

FULL = "file:///c/batch-000002 could not be written: [Errno 28] No space left on device"


class RecordingSaver:
    """Keeps what it is asked for; a test decides how it ends."""

    def __init__(self) -> None:
        self.saves: list[SaveRequest] = []
        self.exports: list[Any] = []

    def save(self, save: SaveRequest) -> None:
        self.saves.append(save)

    def export(self, save: SaveRequest, then: Any) -> None:
        self.exports.append(then)


class Boundaries:
    """The boundaries of a run before its first batch, whose trainer gang is free."""

    def __init__(self, client: Any) -> None:
        self.run, self.saver, self.commands = ManualExecutor(algebra_of()), RecordingSaver(), CommandQueue(client)
        components: Any = SimpleNamespace(
            commands=self.commands,
            evaluations=SimpleNamespace(next_request=lambda **position: None),
            metrics=SimpleNamespace(position=RunPosition()),
            answer=SimpleNamespace(spec=SimpleNamespace(num_batches=9, tuning=Tuning.LORA)),
            clock=SimpleNamespace(now=lambda: self.run.at),
        )
        saver: Any = self.saver
        self.boundaries = BatchBoundaries(components, saver, StatusReporter(client))
        self.boundaries.begin(self.run.scheduler)

    @property
    def is_gang_free(self) -> bool:
        return self.run.scheduler.state.lanes.gang_is_free


def test_a_run_goes_on_without_a_checkpoint_that_cannot_be_written(
    client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    made = Boundaries(client)
    made.commands.checkpoint_command_ids.append("c1")
    made.boundaries.save(final=False)
    assert not made.is_gang_free
    made.saver.saves[0].otherwise(FULL)
    assert made.is_gang_free
    assert f"goes on without this checkpoint: {FULL}" in caplog.text
    (answer,) = (event for event in client.events if isinstance(event, CommandDoneEvent))
    assert (answer.accepted, answer.detail) == (False, FULL)


def test_the_last_checkpoint_is_tried_again(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Boundaries(client)
    monkeypatch.setattr(batch_boundaries, "RETRY_SECONDS", 0.0)
    made.boundaries.save(final=True)
    made.saver.saves[0].otherwise(FULL)
    assert not made.is_gang_free and not made.boundaries.is_final_save_done
    made.boundaries.start_requested()
    assert made.saver.saves == [made.saver.saves[0]] * 2
    made.saver.saves[1].then("file:///c/batch-000002", 1.0)
    assert made.is_gang_free and made.boundaries.is_final_save_done


def test_a_run_whose_last_checkpoint_can_never_be_written_ends_with_its_download(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Boundaries(client)
    monkeypatch.setattr(batch_boundaries, "RETRIES_SECONDS", 0.0)
    made.boundaries.save(final=True)
    made.saver.saves[0].otherwise(FULL)
    (exported,) = made.saver.exports
    assert not made.is_gang_free
    exported()
    assert made.is_gang_free and made.boundaries.is_final_save_done
