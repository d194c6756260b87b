"""Uploads the schedule log: lines are collected and uploaded in compressed parts, at least one for each batch.

    RecordedScheduler ── line ──► write ── flush ──► schedule/<start>/<part>.jsonl.gz ──► the run's artifacts

The web serves the parts of an attempt as one file, since gzip files may be concatenated. Parts that were dropped while
the web was unreachable are counted like every other artifact; a replay ends where one is missing.
"""

import gzip

from worker.contracts.ingest import SCHEDULE_LOG_FOLDER
from worker.engine.telemetry.artifact_uploader import ArtifactFile, ArtifactUploader
from worker.scheduling.replay.schedule_log import Line, dump_line

MAX_LINES_PER_PART = 20_000
"""The most lines of one part, about 4 MB of JSON, so that a batch of very many fragments is not held in memory."""
BYTES_PER_LINE = 200
"""The estimated size of a line, by which waiting parts count towards the memory that uploads may hold."""


class ScheduleLogger:
    """Collects the lines of one scheduler at a time: `begin` is called with each new one, `flush` at the end of each
    batch and of the run."""

    def __init__(self, uploader: ArtifactUploader) -> None:
        self._uploader = uploader
        self._lines: list[Line] = []
        self._num_starts = 0
        """The number of schedulers so far."""
        self._num_parts = 0
        """The number of parts of the current scheduler."""

    def begin(self) -> None:
        """Called when a new scheduler starts, at first and after every rewind."""
        self.flush()
        self._num_starts += 1
        self._num_parts = 0

    def write(self, line: Line) -> None:
        """Add a line."""
        self._lines.append(line)
        if len(self._lines) >= MAX_LINES_PER_PART:
            self.flush()

    def flush(self) -> None:
        """Upload the lines since the last flush as one part, if there are any."""
        if not self._lines:
            return
        lines, self._lines = self._lines, []
        self._num_parts += 1
        file = ArtifactFile(
            f"{SCHEDULE_LOG_FOLDER}{self._num_starts:04d}/{self._num_parts:06d}.jsonl.gz", lambda: compressed(lines)
        )
        self._uploader.submit([file], lambda receipts: None, num_bytes_held=len(lines) * BYTES_PER_LINE)


def compressed(lines: list[Line]) -> bytes:
    """The lines as gzip-compressed JSON. Equal lines give equal bytes, since the web refuses other content at a known
    path."""
    return gzip.compress("".join(dump_line(line) + "\n" for line in lines).encode(), mtime=0)
