"""The driver's clock, and the mapping of each lane's monotonic clock to it.

All span times are driver time: Unix seconds that never run backwards, even when the system clock is set back.
"""

import time
from dataclasses import dataclass

MAX_ROUND_TRIP_SECONDS = 0.05
"""The longest round trip of a probe that may replace a known offset: the new offset's error is up to half of it."""


class DriverClock:
    """Driver time: the Unix time at construction plus what the monotonic clock has counted since."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """Driver time, in seconds."""
        return self._offset + time.monotonic()


@dataclass(slots=True)
class LaneClock:
    """Converts readings of a lane's monotonic clock to driver time."""

    offset_seconds: float | None = None
    """Driver time less the reading of the lane's clock, in seconds; `None` until it is first measured."""

    @property
    def is_measured(self) -> bool:
        return self.offset_seconds is not None

    def measure(self, sent: float, reading: float, received: float) -> None:
        """Update the offset from one probe, by Cristian's algorithm: the lane is taken to have read its clock in the
        middle of the round trip.

        Args:
            sent: driver time when the probe was sent.
            reading: the lane's clock.
            received: driver time when the answer arrived.
        """
        if self.offset_seconds is None or received - sent <= MAX_ROUND_TRIP_SECONDS:
            self.offset_seconds = (sent + received) / 2 - reading

    def to_driver(self, reading: float) -> float:
        """Driver time of a reading of the lane's clock."""
        assert self.offset_seconds is not None, "a lane's clock is measured before its first report is converted"
        return reading + self.offset_seconds
