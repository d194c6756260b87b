"""A reader that replays a trace of readings, for tests and for demonstrations on machines without GPUs.

A trace is a file of JSON lines, each a `TraceLine`, in order of time; the last one holds from then on. A file that was
written anew begins anew, so that what happens to a GPU can be tried while a run works on it.
"""

import time
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

from pydantic import model_validator

from worker.contracts.base import Contract, Magnitude
from worker.contracts.node_reports import GpuReport
from worker.node.readers.reader import ReaderError


class TraceLine(Contract):
    """A reading, or a driver that does not answer."""

    after: Magnitude
    """Seconds from the reader's start."""
    gpus: tuple[GpuReport, ...] | None = None
    error: str | None = None
    """The driver's message."""

    @model_validator(mode="after")
    def _is_one_of_both(self) -> "TraceLine":
        if (self.gpus is None) == (self.error is None):
            raise ValueError("a line holds either `gpus` or `error`")
        return self


class RecordedReader:
    def __init__(self, trace: Path, now: Callable[[], float] = time.monotonic) -> None:
        """Begin the trace now.

        Raises:
            ValueError: for a trace that is empty, not in order of time, or not of this form.
            OSError: for one that cannot be read.
        """
        self._trace, self._now = trace, now
        self._begin()

    def read(self) -> tuple[GpuReport, ...]:
        """The reading that holds now; the first one also before its time. Raises as the constructor does."""
        if self._trace.stat().st_mtime_ns != self._written_at:
            self._begin()
        line = self._lines[max(bisect_right(self._after, self._now() - self._began) - 1, 0)]
        if line.gpus is None:
            raise ReaderError(line.error)
        return line.gpus

    def close(self) -> None: ...

    def _begin(self) -> None:
        self._written_at = self._trace.stat().st_mtime_ns
        text = self._trace.read_text()
        self._lines = [TraceLine.model_validate_json(line) for line in text.splitlines() if line.strip()]
        self._after = [line.after for line in self._lines]
        if not self._lines or self._after != sorted(self._after):
            raise ValueError(f"`{self._trace}` must hold readings in order of `after`, got {self._after[:10]}")
        self._began = self._now()
