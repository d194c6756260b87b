"""Where the server of this node, Ray session and version of the code listens."""

import hashlib
import os
import tempfile
from pathlib import Path

PACKAGES_VARIABLE = "PYTHONPATH"
"""Ray unpacks a job's code into a folder of its session that is named by the code's hash, and names it here for the
driver and for every lane: so this tells sessions and versions of the code apart."""


def server_address() -> Path:
    """The server's socket, in a folder that nobody else can write to. Its path is short: sockets take 107 bytes.

    Raises:
        PermissionError: when the folder belongs to somebody else, who could answer in the server's place.
    """
    folder = Path(tempfile.gettempdir()) / f"tandem-fork-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.lstat().st_uid != os.getuid() or folder.is_symlink():
        raise PermissionError(f"{folder} must belong to user {os.getuid()}: remove it, or set TMPDIR to another folder")
    name = hashlib.sha256(os.environ.get(PACKAGES_VARIABLE, "").encode()).hexdigest()[:16]
    return folder / f"{name}.sock"
