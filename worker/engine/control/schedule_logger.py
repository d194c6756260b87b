"""The schedule log's way to the web: lines are gathered and uploaded in compressed parts, one for each batch.

    RecordedScheduler ── line ──► write ── flush ──► schedule/<start>/<part>.jsonl.gz ──► the run's artifacts

The web serves the parts of an attempt as one file, for gzip members may follow each other. Parts that the web could not
take while it was away are counted like every other artifact; a replay ends where one is missing.
"""

import gzip

from worker.contracts.ingest import SCHEDULE_LOG_FOLDER
from worker.engine.telemetry.artifact_uploader import ArtifactFile, ArtifactUploader
from worker.scheduling.replay.schedule_log import Line, dump_line

MAX_LINES_PER_PART = 20_000
"""About 4 MB of JSON, so that a batch of very many fragments does not wait in memory as one piece."""
BYTES_PER_LINE = 200
"""A line's size by estimate, with which waiting parts count against the memory that uploads may hold."""


class ScheduleLogger:
    """`begin` with each scheduler, `write` its lines, `flush` at a batch's end and at the run's."""

    def __init__(self, uploader: ArtifactUploader) -> None:
        self._uploader = uploader
        self._lines: list[Line] = []
        self._num_starts = 0
        self._num_parts = 0

    def begin(self) -> None:
        """A new scheduler starts: the run began, or went back to its last checkpoint."""
        self.flush()
        self._num_starts += 1
        self._num_parts = 0

    def write(self, line: Line) -> None:
        self._lines.append(line)
        if len(self._lines) >= MAX_LINES_PER_PART:
            self.flush()

    def flush(self) -> None:
        """Upload the lines since the last flush as one part; nothing where there are none."""
        if not self._lines:
            return
        lines, self._lines = self._lines, []
        self._num_parts += 1
        file = ArtifactFile(
            f"{SCHEDULE_LOG_FOLDER}{self._num_starts:04d}/{self._num_parts:06d}.jsonl.gz", lambda: compressed(lines)
        )
        self._uploader.submit([file], lambda receipts: None, num_bytes_held=len(lines) * BYTES_PER_LINE)


def compressed(lines: list[Line]) -> bytes:
    """The lines as gzip-compressed JSON; equal lines give equal bytes, for a file's name is bound to its content."""
    return gzip.compress("".join(dump_line(line) + "\n" for line in lines).encode(), mtime=0)
