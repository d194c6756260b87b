"""What a run is told. Commands ride back on the answers of the ingest; each is answered by a `command_done` event."""

from enum import StrEnum

from pydantic import Field

from worker.contracts.base import Contract
from worker.contracts.prompts import Prompt


class CommandKind(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    """Go on after a pause, or from the checkpoint of a stopped run."""
    STOP = "stop"
    """Finish the batch under way, checkpoint, export, evaluate, then end as stopped, to be resumed at will.

    A batch that takes longer than `BootstrapAnswer.stop_seconds` is given up: the run goes back to the checkpoint that
    it has, and ends as cancelled where it has none."""
    CANCEL = "cancel"
    """End at once, without a checkpoint."""
    SAMPLE_NOW = "sample_now"
    CHECKPOINT_NOW = "checkpoint_now"


class RunCommand(Contract):
    id: str
    kind: CommandKind
    prompts: tuple[Prompt, ...] = Field(default=(), max_length=16)
    """For `sample_now`: prompts of the user's own; empty means the held-out ones."""
