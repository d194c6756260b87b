"""The folder of the embedded servers' sockets: short, because socket paths hold at most 107 bytes, and private.

The folder's name is derived from `TANDEM_VAR` alone, so that every process of one stack (and `manage.py shell` beside
it) finds the same sockets, and two stacks with two data folders never share any.
"""

import hashlib
import os
import stat
from pathlib import Path

from server.errors import CannotStartError

LONGEST_SOCKET_BYTES = 107
# Ray appends "/session_2026-01-01_00-00-00_000000_0000000/sockets/plasma_store" to its temporary folder.
RAY_SUFFIX_BYTES = 66


class UnsafeFolderError(CannotStartError):
    """The private folder exists, but others may write to it."""


def runtime_folder(var: Path) -> Path:
    """Path of the private folder that belongs to the data folder `var`. Creates nothing.

    Raises:
        UnsafeFolderError: the path would be too long for Ray's sockets.
    """
    digest = hashlib.sha256(str(var.resolve()).encode()).hexdigest()[:10]
    base = Path(os.environ.get("TANDEM_RUNTIME") or "/tmp")
    folder = base / f"tandem-{os.getuid()}-{digest}"
    num_bytes = len(str(folder / "ray").encode()) + RAY_SUFFIX_BYTES
    if num_bytes > LONGEST_SOCKET_BYTES:
        raise UnsafeFolderError(
            f"`TANDEM_RUNTIME` is too long: sockets below {base} would need {num_bytes} bytes, and the system allows"
            f" {LONGEST_SOCKET_BYTES}. Unset it, or name a shorter folder."
        )
    return folder


def make_runtime_folder(var: Path) -> Path:
    """Create the private folder, and check that no other user has prepared it.

    Raises:
        UnsafeFolderError: it belongs to somebody else, or is a link.
    """
    folder = runtime_folder(var)
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise UnsafeFolderError(f"{folder} is not a folder of user {os.getuid()}. Remove it, or set `TANDEM_RUNTIME`.")
    # Root's PostgreSQL runs as `nobody`, which must be able to enter its own 0700 folder below.
    folder.chmod(0o711 if os.getuid() == 0 else 0o700)
    return folder


def postgres_sockets(var: Path) -> Path:
    return runtime_folder(var) / "pg"


def valkey_socket(var: Path) -> Path:
    return runtime_folder(var) / "valkey" / "valkey.sock"


def ray_folder(var: Path) -> Path:
    return runtime_folder(var) / "ray"
