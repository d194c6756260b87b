"""The folder of a session, which holds copies of pictures: deleted with it, or later where its process was killed."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

LEFT_AFTER_SECONDS = 3600.0
"""A folder that is older belongs to no session any more: none takes a tenth of it."""


@contextmanager
def session_folder() -> Iterator[Path]:
    """An empty folder, which only this user reads."""
    _folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_folder()) as name:
        yield Path(name)


def delete_left_folders() -> None:
    """Delete what killed sessions left."""
    for found in _folder().glob("*"):
        if time.time() - found.stat().st_mtime > LEFT_AFTER_SECONDS:
            shutil.rmtree(found, ignore_errors=True)


def _folder() -> Path:
    return Path(settings.TANDEM_VAR) / "mirror-sessions"
