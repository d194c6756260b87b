"""Replays a schedule log: the same events at the same times must lead a new scheduler to the same actions.

    lines ──► Replay.step ──► a scheduler of the log's own start ──► actions, compared with the log's

A log of a run that did something odd is stepped through under a debugger; one of an older version shows what a change
of the scheduler would have decided in its place.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from worker.scheduling.core.messages import Action
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.replay.recorded_scheduler import RecordedScheduler
from worker.scheduling.replay.schedule_log import Applied, Asked, Line, Revised, ScheduleStart


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A call that the replayed scheduler answered otherwise than the log says."""

    line: int
    """Number of the line in the log, from 1."""
    at: float
    """When the call was made, in seconds of the executor's clock."""
    recorded: tuple[Action, ...]
    replayed: tuple[Action, ...]


class Replay:
    """Steps through a log; `scheduler` is the one replayed, as it stands after the lines so far."""

    def __init__(self) -> None:
        self._scheduler: Scheduler | None = None
        self.num_lines = 0
        self.num_starts = 0
        """Schedulers that the log holds: one for an attempt and one more for each rewind."""
        self.num_events = 0
        self.num_actions = 0

    @property
    def scheduler(self) -> Scheduler:
        """Raises `ValueError` before the log's first start."""
        if self._scheduler is None:
            raise ValueError(
                "a schedule log must begin with `start`, got another line first: its first part is missing, "
                "so the state that the rest follows from is not known"
            )
        return self._scheduler

    def step(self, line: Line) -> Difference | None:
        """Replay one line. Raises `ProtocolError` for an event that the actions replayed so far cannot lead to."""
        self.num_lines += 1
        match line:
            case ScheduleStart():
                self._scheduler = RecordedScheduler(line)
                self.num_starts += 1
            case Revised(pipeline, fragment_size):
                self.scheduler.revise(pipeline, fragment_size, lending_policy(pipeline))
            case Applied(at, event):
                self.scheduler.apply(event, at)
                self.num_events += 1
            case Asked(at, recorded):
                replayed = tuple(self.scheduler.next_actions(at))
                self.num_actions += len(replayed)
                if replayed != recorded:
                    return Difference(line=self.num_lines, at=at, recorded=recorded, replayed=replayed)
        return None


def differences(lines: Iterable[Line]) -> Iterator[Difference]:
    """Every call that a replay answers otherwise. After the first one the log's events may no longer fit."""
    replay = Replay()
    for line in lines:
        if (difference := replay.step(line)) is not None:
            yield difference
