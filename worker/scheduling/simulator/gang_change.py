"""A change of the trainer lanes in a simulated run, as a resize carries it out in a real one.

batch trained ─► gang reserved, checkpoint written ─┐
                 its lanes, and those to come, free ├─► processes start ─► checkpoint restored ─► the new gang joins
                 version published                  ┘
"""

from dataclasses import dataclass

from worker.scheduling.core.messages import Publish


@dataclass(frozen=True, slots=True, kw_only=True)
class GangChange:
    """Which lanes train from now on, and what the change takes."""

    trainers: tuple[str, ...]
    """Ids of the lanes that train afterwards."""
    released: tuple[str, ...] = ()
    """Ids of lanes that trained before and leave the run."""
    save_seconds: float = 0.0
    """Writing the checkpoint."""
    start_seconds: float = 0.0
    """Starting processes, until they have loaded the model."""
    restore_seconds: float = 0.0
    """Reading the checkpoint."""


@dataclass(slots=True, eq=False)
class OpenGangChange:
    """A change under way."""

    change: GangChange
    _not_free: set[str]
    """Ids of lanes that have yet to end what they do."""
    saved_at: float
    """When the checkpoint is written, in virtual seconds."""
    _has_started: bool = False

    def left(self, lane: str) -> None:
        self._not_free.discard(lane)

    def may_start(self, publishing: Publish | None) -> bool:
        """Whether the old processes can end."""
        return not self._has_started and not self._not_free and publishing is None

    def start(self, now: float) -> float:
        """Start the new gang; returns when it works."""
        self._has_started = True
        return max(now, self.saved_at) + self.change.start_seconds + self.change.restore_seconds
