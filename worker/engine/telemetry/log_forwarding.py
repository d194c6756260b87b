"""Log capture: log records of driver and lanes become rate-limited `log` events.

A lane buffers its newest records and returns them with each call's report; the driver's own records go straight into
the spool. Records over the rate are dropped, and the next one that passes says how many were.
"""

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Literal

from worker.contracts.events import LogEvent
from worker.engine.telemetry.telemetry_client import TelemetryClient

MAX_MESSAGE_CHARACTERS = 2000
"""The most characters of one message: enough for a short traceback."""
MAX_BUFFERED_RECORDS = 200
"""The most records that a lane returns with one report, which bounds the report's size."""
NUM_RECORDS_PER_SECOND = 5.0
"""The sustained rate of all sources together: more than a person reads along."""
NUM_RECORDS_BURST = 50.0
"""The number of records that may exceed the rate at once: a start-up of dozens of lanes."""

Level = Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One log record, as a lane returns it to the driver."""

    level: Level
    message: str


def level_name(levelno: int) -> Level:
    """The level of the contracts for one of `logging`'s numbers."""
    if levelno >= logging.ERROR:
        return "error"
    if levelno >= logging.WARNING:
        return "warning"
    return "info" if levelno >= logging.INFO else "debug"


class BufferingHandler(logging.Handler):
    """Buffers a lane's newest `MAX_BUFFERED_RECORDS` records until `take`."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._records: deque[LogRecord] = deque(maxlen=MAX_BUFFERED_RECORDS)

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(LogRecord(level_name(record.levelno), self.format(record)[:MAX_MESSAGE_CHARACTERS]))

    def take(self) -> tuple[LogRecord, ...]:
        """Remove and return the buffered records, oldest first."""
        taken = []
        while self._records:
            taken.append(self._records.popleft())
        return tuple(taken)


class LogForwarder:
    """Emits `log` events, limited by one token bucket for all sources."""

    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._tokens = NUM_RECORDS_BURST
        self._last = time.monotonic()
        self._num_dropped = 0
        self._lock = threading.Lock()

    def forward(self, source: str, record: LogRecord) -> None:
        """Emit a record of `source`, a lane or `driver`, unless the rate is exceeded."""
        with self._lock:
            message = self._admit(record)
        if message is not None:
            self._client.emit(LogEvent, level=record.level, source=source, message=message)

    def _admit(self, record: LogRecord) -> str | None:
        """The message to emit, or `None` for a record that is dropped."""
        now = time.monotonic()
        self._tokens = min(NUM_RECORDS_BURST, self._tokens + (now - self._last) * NUM_RECORDS_PER_SECOND)
        self._last = now
        # Errors always pass: they are few, and each may be the reason that a run ended.
        if self._tokens < 1 and record.level != "error":
            self._num_dropped += 1
            return None
        self._tokens -= 1
        message = record.message
        if self._num_dropped:
            message += f" ({self._num_dropped} records before this one were dropped: over the log rate)"
            self._num_dropped = 0
        return message


class ForwardingHandler(logging.Handler):
    """Feeds the driver's own log records to a `LogForwarder`."""

    def __init__(self, forwarder: LogForwarder) -> None:
        super().__init__(logging.INFO)
        self._forwarder = forwarder

    def emit(self, record: logging.LogRecord) -> None:
        message = self.format(record)[:MAX_MESSAGE_CHARACTERS]
        self._forwarder.forward("driver", LogRecord(level_name(record.levelno), message))
