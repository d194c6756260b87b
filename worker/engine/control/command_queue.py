"""The commands that users sent and the run has not carried out yet; the controller reads them once per iteration.

Invariant: every command is answered by exactly one `command_done` event: at once where it takes effect or is refused,
later where samples or a checkpoint must be made first.
"""

import math
import time
from collections import deque

from worker.contracts.commands import CommandKind, RunCommand
from worker.contracts.events import CommandDoneEvent
from worker.contracts.resizing import Resize
from worker.engine.telemetry.telemetry_client import TelemetryClient


class RunCancelledError(Exception):
    """A user has cancelled the run, so it ends at once."""


class StopOverdueError(Exception):
    """A stopped run did not finish its open batch in the time that it may take.

    Attributes:
        checkpoint: the URI that the run can be resumed from; `None` where nothing was saved yet.
    """

    def __init__(self, message: str, *, checkpoint: str | None) -> None:
        super().__init__(message)
        self.checkpoint = checkpoint


class CommandQueue:
    """Answers commands, and keeps those that the controller has yet to carry out."""

    def __init__(self, client: TelemetryClient, *, stop_seconds: float = math.inf) -> None:
        """Read commands from `client`; a stop is overdue after `stop_seconds`."""
        self._client = client
        self._stop_seconds = stop_seconds
        self._stop_deadline = math.inf
        self.pause_wanted = False
        """Whether the run must pause after its open batches: no new batch may begin."""
        self.stop_wanted = False
        """Whether the run must end after its open batches: no new batch may begin."""
        self.checkpoint_command_ids: list[str] = []
        """The ids of the `checkpoint_now` commands that the next checkpoint answers."""
        self.sample_commands: deque[RunCommand] = deque()
        """The `sample_now` commands that have not begun, oldest first."""
        self._resizes: list[tuple[str, Resize]] = []
        """(command id, resize) of the `resize` commands that were not taken, oldest first."""

    @property
    def is_stop_overdue(self) -> bool:
        """Whether a stop was commanded more than `stop_seconds` ago."""
        return time.monotonic() >= self._stop_deadline

    def take_new(self) -> None:
        """Process the commands that have arrived. Raises `RunCancelledError` on cancel."""
        for command in self._client.take_commands():
            self._take(command)

    def take_resizes(self) -> list[tuple[str, Resize]]:
        """(command id, resize) of the `resize` commands since the last call, for the caller to answer."""
        taken, self._resizes = self._resizes, []
        return taken

    def answer(self, command_id: str, detail: str, *, accepted: bool = True) -> None:
        """Emit the `command_done` event of a command."""
        self._client.emit(CommandDoneEvent, command_id=command_id, accepted=accepted, detail=detail)

    def refuse_all(self, detail: str) -> None:
        """Refuse the commands that are still open when the run ends."""
        for command_id in [*self.checkpoint_command_ids, *(command.id for command in self.sample_commands)]:
            self.answer(command_id, detail, accepted=False)
        self.checkpoint_command_ids.clear()
        self.sample_commands.clear()

    def _take(self, command: RunCommand) -> None:
        match command.kind:
            case CommandKind.CANCEL:
                self.answer(command.id, "the run ends now")
                raise RunCancelledError
            case CommandKind.STOP if self.stop_wanted:
                self.answer(command.id, "the run is stopping already", accepted=False)
            case CommandKind.STOP:
                self.stop_wanted, self.pause_wanted = True, False
                self._stop_deadline = time.monotonic() + self._stop_seconds
                self.answer(
                    command.id, "the run ends after its open batch, with a checkpoint, the download and an evaluation"
                )
            case CommandKind.PAUSE if self.stop_wanted or self.pause_wanted:
                reason = "stopping" if self.stop_wanted else "pausing or paused"
                self.answer(command.id, f"the run is {reason} already", accepted=False)
            case CommandKind.PAUSE:
                self.pause_wanted = True
                self.answer(command.id, "the run pauses after its open batch")
            case CommandKind.RESUME if not self.pause_wanted:
                self.answer(command.id, "the run is not paused", accepted=False)
            case CommandKind.RESUME:
                self.pause_wanted = False
                self.answer(command.id, "the run continues")
            case CommandKind.SAMPLE_NOW:
                self.sample_commands.append(command)
            case CommandKind.CHECKPOINT_NOW:
                self.checkpoint_command_ids.append(command.id)
            case CommandKind.RESIZE:
                assert command.resize is not None, "the contract refuses a resize command without one"
                self._resizes.append((command.id, command.resize))
