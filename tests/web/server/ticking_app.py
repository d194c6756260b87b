"""A Celery app of one periodic task, which notes that it ran, for a worker in a process of its own."""

import os
from datetime import timedelta
from pathlib import Path

from celery import Celery

from server.beat_thread import add_beat_thread

app = Celery("ticking", broker=os.environ["CELERY_BROKER_URL"])
add_beat_thread(app)
app.conf.update(
    task_default_queue="ticking",
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    beat_schedule={"tick": {"task": "tick", "schedule": timedelta(seconds=0.2)}},
)


@app.task(name="tick")
def tick() -> None:
    with Path(os.environ["TICKS"]).open("a") as ticks:
        ticks.write("tick\n")
