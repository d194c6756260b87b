"""Since when silence of drivers counts: this process watches from its start on, and anew when the clock is stepped.

A step of the clock, or the end of a machine's sleep, makes every heartbeat look hours old, or yet to come.
"""

import time
from datetime import datetime

from django.utils import timezone

STEP_SECONDS = 2.0
"""How far the wall clock may run from the monotonic one between two looks: NTP slews by milliseconds in that time."""


class WatchedSince:
    def __init__(self) -> None:
        self._ahead = self._now_ahead()
        self._since = timezone.now()

    def look(self) -> datetime:
        """Since when it has watched on a steady clock."""
        ahead = self._now_ahead()
        if abs(ahead - self._ahead) > STEP_SECONDS:
            self._since = timezone.now()
        self._ahead = ahead
        return self._since

    @staticmethod
    def _now_ahead() -> float:
        return time.time() - time.monotonic()


WATCHED_SINCE = WatchedSince()
"""Of this process."""
