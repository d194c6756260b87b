"""Commands to a run. The ingest's answers carry them to the driver, which answers each with a `command_done` event."""

from enum import StrEnum

from pydantic import Field

from worker.contracts.base import Contract
from worker.contracts.prompts import Prompt


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


class RunCommand(Contract):
    """One command, as the driver receives it."""

    id: str
    """Identifier that the driver's answer repeats."""
    kind: CommandKind
    """What is asked."""
    prompts: tuple[Prompt, ...] = Field(default=(), max_length=16)
    """For `sample_now`: prompts to generate from. Empty: the held-out ones."""
