"""The driver's event spool: every event is on disk, numbered without gaps, until the web has acknowledged it.

One JSON line per event. Memory holds only where the waiting lines lie, so a web that is away for hours costs disk, not
memory. Once everything is acknowledged and the file has grown, it starts anew from nothing.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROTATE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Line:
    seq: int
    offset: int
    num_bytes: int


class Spool:
    """Append-only, thread-safe. `folder` is created, readable by its owner alone."""

    def __init__(self, folder: Path, *, first_seq: int = 1) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / "events.jsonl"
        self._file = self._path.open("w+b")
        self._lock = threading.Lock()
        self._waiting: deque[_Line] = deque()
        self._next_seq = first_seq
        self._end = 0

    @property
    def num_pending(self) -> int:
        """Events not yet acknowledged."""
        with self._lock:
            return len(self._waiting)

    @property
    def last_seq(self) -> int:
        """The number of the newest event; `first_seq - 1` while there is none."""
        with self._lock:
            return self._next_seq - 1

    def append(self, encode: Callable[[int], str]) -> int:
        """Take the next number, write the line `encode(seq)` gives for it, return the number.

        A number is used up only when its line was encoded and written: an event that cannot be encoded leaves no gap.
        """
        with self._lock:
            line = encode(self._next_seq).encode() + b"\n"
            self._file.seek(self._end)
            self._file.write(line)
            self._file.flush()
            self._waiting.append(_Line(self._next_seq, self._end, len(line)))
            self._end += len(line)
            self._next_seq += 1
            return self._next_seq - 1

    def oldest(self, *, max_events: int, max_bytes: int) -> list[str]:
        """The longest run of oldest waiting lines within both bounds; at least one if any waits."""
        with self._lock:
            num_lines, num_bytes = 0, 0
            for line in self._waiting:
                if num_lines == max_events or (num_lines and num_bytes + line.num_bytes > max_bytes):
                    break
                num_lines += 1
                num_bytes += line.num_bytes
            if not num_lines:
                return []
            self._file.seek(self._waiting[0].offset)
            # Not `splitlines`: JSON may carry U+2028 unescaped, and that is no end of a line here.
            return self._file.read(num_bytes).decode().rstrip("\n").split("\n")

    def acknowledge(self, seq: int) -> None:
        """Forget every event up to and including `seq`.

        Raises:
            ValueError: when `seq` was never given out: the web's numbering and ours have parted.
        """
        with self._lock:
            if seq >= self._next_seq:
                raise ValueError(f"`acknowledged` must be < {self._next_seq}, got {seq}: that event was never sent")
            while self._waiting and self._waiting[0].seq <= seq:
                self._waiting.popleft()
            if not self._waiting and self._end > ROTATE_BYTES:
                self._file.truncate(0)
                self._end = 0

    def close(self) -> None:
        """Close the file, and remove it where nothing waits in it any more."""
        with self._lock:
            self._file.close()
            if not self._waiting:
                self._path.unlink(missing_ok=True)
                if not any(self._path.parent.iterdir()):
                    self._path.parent.rmdir()
