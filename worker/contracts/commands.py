"""Commands to a run. The ingest's answers carry them to the driver, which answers each with a `command_done` event."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from worker.contracts.base import Contract
from worker.contracts.prompts import Prompt
from worker.contracts.resizing import Resize


class CommandKind(StrEnum):
    """What a user may ask of a run."""

    PAUSE = "pause"
    """Finish the batch under way, then wait with the lanes held."""
    RESUME = "resume"
    """Continue after a pause, or from the checkpoint of a stopped run."""
    STOP = "stop"
    """Finish the batch under way, checkpoint, export, evaluate, then end as stopped; the run can be resumed later.

    A batch that takes longer than `BootstrapAnswer.stop_seconds` is given up: the run ends as stopped at its newest
    checkpoint, or as cancelled if it has none."""
    CANCEL = "cancel"
    """End at once, without a checkpoint."""
    SAMPLE_NOW = "sample_now"
    """Generate samples with the newest published version."""
    CHECKPOINT_NOW = "checkpoint_now"
    """Write a checkpoint, and what users download, at the end of the batch under way."""
    RESIZE = "resize"
    """Add lanes, release lanes, or change their roles, while the run works. `lanes` events report how far it is."""


class RunCommand(Contract):
    """One command, as the driver receives it."""

    id: str
    """Identifier that the driver's answer repeats."""
    kind: CommandKind
    """What is asked."""
    prompts: tuple[Prompt, ...] = Field(default=(), max_length=16)
    """For `sample_now`: prompts to generate from. Empty: the held-out ones."""
    resize: Resize | None = None
    """For `resize`, and only for it: the lanes concerned."""

    @model_validator(mode="after")
    def _resize_belongs(self) -> Self:
        if (self.kind is CommandKind.RESIZE) != (self.resize is not None):
            given = "none" if self.resize is None else "one"
            raise ValueError(f"`resize` must be given for the kind `resize` alone, got {given} for {self.kind}")
        return self
