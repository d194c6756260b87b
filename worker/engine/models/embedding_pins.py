"""What processes of a node agree on about its stored embeddings: who encodes which, and which are in use.

Both are locks on files, which end with the process that holds them, however it ends.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from worker.engine.step_count import advance

_MODE = 0o600
_POLL_SECONDS = 0.05
"""How often a claim of another process is looked at: far less than encoding its 64 prompts takes."""


@contextmanager
def claim(file: Path, *, waits: bool) -> Iterator[bool]:
    """Whether the claim that `file` stands for is this process's while the block runs; another's is waited for, or not.

    It excludes threads of one process from each other, too. Who waits for another process counts as going on, since
    whoever called that one watches it.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT, _MODE)
    try:
        while not (is_mine := _try_lock(handle)) and waits:
            advance()
            time.sleep(_POLL_SECONDS)
        yield is_mine
    finally:
        os.close(handle)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Pins:
    """The names of embeddings that live processes may still read, by one file for each set of names."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pin(self, names: Iterable[str]) -> "Pin":
        """Keep what these names stand for until the returned object is deleted, or the process ends."""
        content = "\n".join(sorted(names)).encode()
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = self._folder / hashlib.sha256(content).hexdigest()
        while True:
            handle = os.open(file, os.O_RDWR | os.O_CREAT, _MODE)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass  # It is written already, or is being written.
            else:
                with open(handle, "wb", closefd=False) as written:
                    written.truncate()
                    written.write(content)
            fcntl.flock(handle, fcntl.LOCK_SH)
            # Another process may have removed it before the lock, or have been killed while it wrote.
            found = os.fstat(handle)
            if found.st_nlink and found.st_size == len(content):
                return Pin(handle)
            os.close(handle)

    def names(self) -> set[str]:
        """All names that are pinned. Files of processes that have ended are removed."""
        found = set[str]()
        for file in self._folder.glob("*") if self._folder.is_dir() else ():
            with claim(file, waits=False) as is_free:
                if is_free:
                    file.unlink(missing_ok=True)
                else:
                    found.update(file.read_text().splitlines())
        return found


class Pin:
    """A set of names that is pinned as long as this object lives."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __del__(self) -> None:
        os.close(self._handle)
