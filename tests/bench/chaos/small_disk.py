"""A small disk for the stack's data folder, which a fault fills to the last byte.

It is a tmpfs in a mount namespace of this process's own, so that it goes with the process, however that ends. Mounting
takes root.
"""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CLONE_NEWNS = 0x00020000
"""Of `sched.h`."""
SIZE_GIB = 3
"""The stack wants 1 GiB free at its start, and a database with its first runs takes some 100 MB."""
CHUNK = bytes(1 << 20)


@dataclass(frozen=True, slots=True)
class SmallDisk:
    folder: Path

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"

    def fill(self) -> None:
        """Leave not a byte free, also of the last page."""
        with self._ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(CHUNK):
                pass

    def empty(self) -> None:
        self._ballast.unlink(missing_ok=True)


@contextmanager
def mounted_small_disk(folder: Path) -> Iterator[SmallDisk | None]:
    """A small disk at `folder` until the block ends, for this process and those that it starts meanwhile; None where
    that is not allowed."""
    if not _mounted(folder):
        yield None
        return
    try:
        yield SmallDisk(folder)
    finally:
        _done("umount", "--lazy", folder)


def _mounted(folder: Path) -> bool:
    if os.geteuid() != 0 or ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        return False
    options = f"size={SIZE_GIB}g,mode=755"
    is_private = _done("mount", "--make-rprivate", "/")
    return is_private and _done("mount", "-t", "tmpfs", "-o", options, "tandem", folder)


def _done(*command: str | Path) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0
