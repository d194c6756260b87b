"""Applies the commands to pause, resume and stop, and drains the run for a plan: opens and closes admission of batches.

```text
pause ─► admission closed ─► open batches end ─► all lanes idle: paused ─► resume ─► admission opened
stop  ─► admission closed ─► open batches end ─► the controller ends the run
plan of another placement or staleness ─► admission closed ─► open batches end ─► new gang ─► admission opened
```

Invariant: a batch that is open is always finished; only the controller gives one up, when a stop is overdue.
"""

from worker.engine.control.command_queue import CommandQueue
from worker.scheduling.core.messages import AdmissionClosed, AdmissionOpened
from worker.scheduling.core.scheduler import Scheduler


class AdmissionControl:
    """Opens and closes the admission of one scheduler at a time, and tracks whether the run is paused."""

    def __init__(self, commands: CommandQueue) -> None:
        self._commands = commands
        self._is_open = True
        self.is_paused = False
        """Whether a pause is in effect: it was commanded, and all lanes were idle since."""

    def begin(self) -> None:
        """Called with each new scheduler, whose admission is open."""
        self._is_open = True

    def apply_commands(self, scheduler: Scheduler, at: float, *, drains: bool) -> None:
        """Open or close admission as the commands require; `at` is driver time in seconds.

        `drains`: a plan is carried out that no batch may be open for.
        """
        commands = self._commands
        must_be_open = not (commands.pause_wanted or commands.stop_wanted or drains)
        if must_be_open != self._is_open:
            self._is_open = must_be_open
            scheduler.apply(AdmissionOpened() if must_be_open else AdmissionClosed(), at)

    def update_pause(self, scheduler: Scheduler) -> None:
        """Begin a commanded pause once all lanes are idle; end it when it is no longer commanded."""
        self.is_paused = self._commands.pause_wanted and (self.is_paused or scheduler.state.is_quiescent)
