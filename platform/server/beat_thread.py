"""Beat on a thread of the Celery worker: `celery … worker --beat-thread --schedule FILE`.

Celery's own `--beat` forks a process for it, which holds another copy of Django and of every app (64 MB) to send three
messages every few seconds.
"""

from typing import Any

from celery import Celery, bootsteps
from celery.beat import EmbeddedService, PersistentScheduler, ScheduleEntry
from click import Option

from server.round_conditions import may_find_work


class SteadyScheduler(PersistentScheduler):
    """Sends no round that would find nothing to do. Goes on when the machine's clock is set back, at whose old time the
    rounds would begin again otherwise: no run would be dispatched or reconciled until then."""

    def tick(self, *arguments: Any, **options: Any) -> float:
        now = self.app.now()
        ahead = [entry for entry in self.schedule.values() if entry.last_run_at is not None and entry.last_run_at > now]
        for entry in ahead:
            entry.last_run_at = now
        if ahead:
            # Its moments are of the old time; without it the scheduler counts anew.
            self._heap = None
        seconds: float = super().tick(*arguments, **options)
        return seconds

    def adjust(self, n: float, drift: float = 0.0) -> float:
        # Celery wakes 10 ms early by default and then asks again and again, without a pause, until the round is due:
        # with a round every third of a second 2 % of a core.
        adjusted: float = super().adjust(n, drift)
        return adjusted

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        if may_find_work(entry.task):
            super().apply_entry(entry, producer)


class BeatThread(bootsteps.StartStopStep):
    """The worker's step that starts and stops beat with it."""

    label = "Beat thread"
    conditional = True
    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, beat_thread: bool = False, **options: Any) -> None:
        self.enabled = beat_thread
        super().__init__(worker, **options)

    def create(self, worker: Any) -> Any:
        return EmbeddedService(
            worker.app, thread=True, schedule_filename=worker.schedule_filename, scheduler_cls=SteadyScheduler
        )


def add_beat_thread(app: Celery) -> None:
    """Give the app's workers the option `--beat-thread`."""
    app.user_options["worker"].add(
        Option(("--beat-thread",), is_flag=True, help="Run beat on a thread of this worker.")
    )
    app.steps["worker"].add(BeatThread)
