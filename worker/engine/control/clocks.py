"""Clocks: the driver's, and how each lane's monotonic clock maps to it.

All span times are the driver's: Unix seconds that never run backwards, whatever the system clock is set to meanwhile.
"""

import time
from dataclasses import dataclass

MAX_ROUND_TRIP_SECONDS = 0.05
"""A probe that took longer says too little about the offset to replace one that we have."""


class DriverClock:
    """Unix time at start, carried on by the monotonic clock."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        return self._offset + time.monotonic()


@dataclass(slots=True)
class LaneClock:
    """Adds to a reading of the lane's monotonic clock to give driver time; `None` until measured once."""

    offset_seconds: float | None = None

    def measure(self, sent: float, reading: float, received: float) -> None:
        """Take in one probe, by Cristian's method: the lane read its clock in the middle of the round trip."""
        if self.offset_seconds is None or received - sent <= MAX_ROUND_TRIP_SECONDS:
            self.offset_seconds = (sent + received) / 2 - reading

    def to_driver(self, reading: float) -> float:
        """Driver time of a reading of the lane's clock."""
        assert self.offset_seconds is not None, "a lane's clock is measured when it joins"
        return reading + self.offset_seconds
