"""Ends the process of a lane that no driver attends to any more.

A kept lane outlives its driver, so that the run's next attempt can go on with it. Where none comes, nobody else would
end it, and it would hold its GPU for ever.
"""

import os
import threading
import time

from ray.util.placement_group import get_current_placement_group, remove_placement_group

from worker.contracts.lanes import MAX_UNATTENDED_SECONDS

ATTEND_SECONDS = 5.0
"""How often a driver attends to each of its lanes: one small call, beside any work."""
EXIT_STATUS = 3
"""Any but 0: the lane is lost to whoever still counts on it."""


class Attendance:
    """Counts the times that nobody came. Seconds are counted tick by tick, so that a process that was stopped, or a
    machine that was suspended, has missed nothing meanwhile."""

    def __init__(self) -> None:
        self._num_missed = 0
        threading.Thread(target=self._watch, name="attendance", daemon=True).start()

    def attend(self) -> None:
        """A driver was here."""
        self._num_missed = 0

    def _watch(self) -> None:
        while self._num_missed * ATTEND_SECONDS < MAX_UNATTENDED_SECONDS:
            time.sleep(ATTEND_SECONDS)
            self._num_missed += 1
        group = get_current_placement_group()
        if group is not None:
            # Ray ends the lane with it; one that Ray cannot reach ends by itself.
            remove_placement_group(group)
            time.sleep(ATTEND_SECONDS)
        os._exit(EXIT_STATUS)
