"""What a run is told. Commands ride back on the answers of the ingest; each is answered by a `command_done` event."""

from enum import StrEnum

from pydantic import Field

from worker.contracts.base import Contract


class CommandKind(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    """Finish the batch under way, checkpoint, export, evaluate, then end as completed. A batch that takes longer than
    `BootstrapAnswer.stop_seconds` is given up, and the run ends as cancelled with the checkpoint it has."""
    CANCEL = "cancel"
    """End at once, without a checkpoint."""
    SAMPLE_NOW = "sample_now"
    CHECKPOINT_NOW = "checkpoint_now"


class RunCommand(Contract):
    id: str
    kind: CommandKind
    prompts: tuple[str, ...] = Field(default=(), max_length=16)
    """For `sample_now`: prompts of the user's own; empty means the held-out ones."""
