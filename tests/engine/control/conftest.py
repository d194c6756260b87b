from collections.abc import Callable, Sequence
from typing import Any

import pytest

from worker.contracts.any_event import Event
from worker.contracts.commands import RunCommand
from worker.engine.telemetry.artifact_uploader import ArtifactFile, Receipt


class RecordingClient:
    """Takes the place of `TelemetryClient`: validates and keeps events, and returns the commands given to it."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.commands: list[RunCommand] = []

    def emit(self, event_type: type[Event], **fields: Any) -> int:
        self.events.append(event_type(seq=len(self.events) + 1, at=0.0, **fields))
        return len(self.events)

    def take_commands(self) -> list[RunCommand]:
        taken, self.commands = self.commands, []
        return taken


@pytest.fixture
def client() -> RecordingClient:
    return RecordingClient()


class RecordingUploader:
    """Takes the place of `ArtifactUploader`: keeps the bytes of every file that it is given."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def submit(self, files: Sequence[ArtifactFile], then: Callable[[list[Receipt]], None], **options: Any) -> None:
        self.files |= {file.path: file.read() for file in files}
        then([Receipt(file.path, "", len(self.files[file.path])) for file in files])


@pytest.fixture
def uploader() -> RecordingUploader:
    return RecordingUploader()
