"""Beat on a thread of the Celery worker: `celery … worker --beat-thread --schedule FILE`.

Celery's own `--beat` forks a process for it, which holds another copy of Django and of every app (64 MB) to send three
messages every few seconds.
"""

from typing import Any

from celery import Celery, bootsteps
from celery.beat import EmbeddedService
from click import Option


class BeatThread(bootsteps.StartStopStep):
    """The worker's step that starts and stops beat with it."""

    label = "Beat thread"
    conditional = True
    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, beat_thread: bool = False, **options: Any) -> None:
        self.enabled = beat_thread
        super().__init__(worker, **options)

    def create(self, worker: Any) -> Any:
        return EmbeddedService(worker.app, thread=True, schedule_filename=worker.schedule_filename)


def add_beat_thread(app: Celery) -> None:
    """Give the app's workers the option `--beat-thread`."""
    app.user_options["worker"].add(
        Option(("--beat-thread",), is_flag=True, help="Run beat on a thread of this worker.")
    )
    app.steps["worker"].add(BeatThread)
