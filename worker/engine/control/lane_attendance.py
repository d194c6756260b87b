"""Tells the lanes that their driver lives, from a thread of its own: the loop may wait for the cluster for long."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from worker.engine.attendance import ATTEND_SECONDS


class LaneAttendance:
    """Attends to the lanes every `ATTEND_SECONDS` between `begin` and `end`."""

    def __init__(self, lanes: Callable[[], Sequence[Any]]) -> None:
        """`lanes` gives the actors that are up."""
        self._lanes = lanes
        self._is_over = threading.Event()

    def begin(self) -> None:
        threading.Thread(target=self._attend, name="lane attendance", daemon=True).start()

    def end(self) -> None:
        self._is_over.set()

    def _attend(self) -> None:
        while not self._is_over.wait(ATTEND_SECONDS):
            for actor in self._lanes():
                # Not waited for: a lane that does not answer is the watchdog's business.
                actor.attend.remote()
