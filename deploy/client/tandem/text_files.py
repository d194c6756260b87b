"""Text that comes from files and goes to terminals, and names that become files of any system."""

import os
import re
from pathlib import Path

from tandem.errors import TandemError

_NOT_IN_FILE_NAMES = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
"""What Windows forbids, `/` among it: https://learn.microsoft.com/windows/win32/fileio/naming-a-file."""
_DEVICES = re.compile(r"(CON|PRN|AUX|NUL|COM\d|LPT\d)(\.|$)", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All but tabs and line ends. A terminal acts on them: it may be renamed, or have lines written over."""


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a UTF-8 file, whatever the system's own encoding is.

    Raises:
        TandemError: it is in another encoding.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TandemError(f"{path} must be text in UTF-8, and is not: {error.reason} at byte {error.start}") from error


def file_name(name: str) -> str:
    """`name` as one part of a path, which no system refuses and which leads nowhere else."""
    safe = _NOT_IN_FILE_NAMES.sub("-", name).rstrip(". ") or "-"
    return f"-{safe}" if _DEVICES.match(safe) else safe


def printable(text: str) -> str:
    """`text` with its control characters spelled out: names and logs are written by others."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
