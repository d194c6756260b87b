"""What the run was told and has not done yet. The controller looks here once a loop.

Invariant: every command is answered by exactly one `command_done`: at once where it takes effect or is refused, later
where something must be made first (samples, a checkpoint).
"""

import math
import time
from collections import deque

from worker.contracts.commands import CommandKind, RunCommand
from worker.contracts.events import CommandDoneEvent
from worker.engine.telemetry.telemetry_client import TelemetryClient


class RunCancelledError(Exception):
    """The user wants the run to end at once."""


class StopOverdueError(Exception):
    """The batch under way took longer than a stopped run may take over it.

    `checkpoint` is where the run can be resumed; None where nothing was saved yet.
    """

    def __init__(self, message: str, *, checkpoint: str | None) -> None:
        super().__init__(message)
        self.checkpoint = checkpoint


class CommandQueue:
    """`pause_wanted` and `stop_wanted` close admission; orders wait until the controller gets to them."""

    def __init__(self, client: TelemetryClient, *, stop_seconds: float = math.inf) -> None:
        """`stop_seconds`: how long after the stop `is_stop_overdue` turns true."""
        self._client = client
        self._stop_seconds = stop_seconds
        self._stop_deadline = math.inf
        self.pause_wanted = False
        self.stop_wanted = False
        self.checkpoint_orders: list[str] = []
        """Ids of commands that the next checkpoint answers."""
        self.sample_orders: deque[RunCommand] = deque()

    @property
    def is_stop_overdue(self) -> bool:
        return time.monotonic() >= self._stop_deadline

    def take_new(self) -> None:
        """Take in what arrived. Raises `RunCancelledError` on cancel."""
        for command in self._client.take_commands():
            self._take(command)

    def answer(self, command_id: str, detail: str, *, accepted: bool = True) -> None:
        self._client.emit(CommandDoneEvent, command_id=command_id, accepted=accepted, detail=detail)

    def refuse_all(self, detail: str) -> None:
        """Answer the orders that are still open when the run ends."""
        for command_id in [*self.checkpoint_orders, *(order.id for order in self.sample_orders)]:
            self.answer(command_id, detail, accepted=False)
        self.checkpoint_orders.clear()
        self.sample_orders.clear()

    def _take(self, command: RunCommand) -> None:
        match command.kind:
            case CommandKind.CANCEL:
                self.answer(command.id, "ends now")
                raise RunCancelledError
            case CommandKind.STOP if self.stop_wanted:
                self.answer(command.id, "the run is stopping already", accepted=False)
            case CommandKind.STOP:
                self.stop_wanted, self.pause_wanted = True, False
                self._stop_deadline = time.monotonic() + self._stop_seconds
                self.answer(command.id, "ends after the batch under way, with a checkpoint, the LoRA and an evaluation")
            case CommandKind.PAUSE if self.stop_wanted or self.pause_wanted:
                reason = "stopping" if self.stop_wanted else "pausing or paused"
                self.answer(command.id, f"the run is {reason} already", accepted=False)
            case CommandKind.PAUSE:
                self.pause_wanted = True
                self.answer(command.id, "pauses after the batch under way")
            case CommandKind.RESUME if not self.pause_wanted:
                self.answer(command.id, "the run is not paused", accepted=False)
            case CommandKind.RESUME:
                self.pause_wanted = False
                self.answer(command.id, "goes on")
            case CommandKind.SAMPLE_NOW:
                self.sample_orders.append(command)
            case CommandKind.CHECKPOINT_NOW:
                self.checkpoint_orders.append(command.id)
