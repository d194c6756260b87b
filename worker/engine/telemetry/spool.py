"""The driver's event spool: every event is on disk, numbered without gaps, until the web has acknowledged it.

The file has one JSON line per event. Memory holds only the offsets of waiting lines, so a web that is unreachable for
hours costs disk space, not memory. A large file is truncated as soon as all of its events are acknowledged. What a full
disk does not take is held in memory, within a bound.

The file has no name: a later attempt counts from its checkpoint and reports that again, so what a driver leaves that is
killed would be read by nobody and fill its node's disk.
"""

import errno
import os
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

ROTATE_BYTES = 4 * 1024 * 1024
"""The size from which on the file is truncated when it may be: small on any disk, and rarely reached."""


MAX_HELD_BYTES = 64 * 1024 * 1024
"""The most that is held in memory while the disk is full: hours of most runs, and little beside a trainer's memory."""


@dataclass(frozen=True, slots=True)
class _Line:
    seq: int
    offset: int
    """Where the line begins in the file, in bytes."""
    num_bytes: int
    held: bytes | None = None
    """The line itself, where the disk did not take it."""


class Spool:
    """An append-only file of events. All methods are thread-safe."""

    def __init__(self, *, first_seq: int = 1) -> None:
        """`first_seq`: the number of the first event."""
        # Unbuffered, since a buffer keeps what a full disk did not take and tries it again at another place.
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115, open as long as the spool is
        self._lock = threading.Lock()
        self._waiting: deque[_Line] = deque()
        self._next_seq = first_seq
        self._end = 0
        self._num_held_bytes = 0

    @property
    def num_pending(self) -> int:
        """The number of events that are not acknowledged."""
        with self._lock:
            return len(self._waiting)

    @property
    def last_seq(self) -> int:
        """The number of the newest event; `first_seq - 1` while there is none."""
        with self._lock:
            return self._next_seq - 1

    @property
    def acknowledged_seq(self) -> int:
        """The number up to which every event is acknowledged."""
        with self._lock:
            return (self._waiting[0].seq if self._waiting else self._next_seq) - 1

    def append(self, encode: Callable[[int], str]) -> int:
        """Write the line `encode(seq)` of the next number, and return that number.

        The number is used up only when its line was encoded and kept: an event that cannot be encoded leaves no gap.

        Raises:
            OSError: when the disk is full and so is the memory for what it does not take.
        """
        with self._lock:
            line = encode(self._next_seq).encode() + b"\n"
            self._waiting.append(self._kept(line))
            self._next_seq += 1
            return self._next_seq - 1

    def _kept(self, line: bytes) -> _Line:
        """The next line, on disk or in memory."""
        begin = self._end
        try:
            self._write(line)
        except OSError:
            if self._num_held_bytes + len(line) > MAX_HELD_BYTES:
                raise
            self._num_held_bytes += len(line)
            return _Line(self._next_seq, begin, len(line), held=line)
        return _Line(self._next_seq, begin, len(line))

    def _write(self, line: bytes) -> None:
        """Append a line to the file, whole or not at all: a disk that becomes full takes a part of it, which the next
        line then overwrites."""
        if os.pwrite(self._file.fileno(), line, self._end) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._end += len(line)

    def oldest(self, *, max_events: int, max_bytes: int) -> list[str]:
        """The oldest lines that are not acknowledged, as many as both bounds allow but at least one if there is any."""
        with self._lock:
            lines, num_bytes = list[str](), 0
            for line in self._waiting:
                if len(lines) == max_events or (lines and num_bytes + line.num_bytes > max_bytes):
                    break
                lines.append(self._content(line).decode().rstrip("\n"))
                num_bytes += line.num_bytes
            return lines

    def _content(self, line: _Line) -> bytes:
        return line.held or os.pread(self._file.fileno(), line.num_bytes, line.offset)

    def acknowledge(self, seq: int) -> None:
        """Forget every event up to and including `seq`.

        Raises:
            ValueError: when no event has the number `seq` yet, so that the web's numbering differs from the spool's.
        """
        with self._lock:
            if seq >= self._next_seq:
                raise ValueError(f"`acknowledged` must be < {self._next_seq}, got {seq}: that event was never sent")
            while self._waiting and self._waiting[0].seq <= seq:
                self._num_held_bytes -= len(self._waiting.popleft().held or b"")
            if not self._waiting and self._end > ROTATE_BYTES:
                self._file.truncate(0)
                self._end = 0

    def close(self) -> None:
        """Close the file, with which events that are not acknowledged are gone."""
        with self._lock:
            self._file.close()
