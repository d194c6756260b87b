"""One log file per process of the stack, and its last lines for messages."""

from pathlib import Path
from typing import IO


def open_log(folder: Path, name: str) -> IO[bytes]:
    """`<folder>/<name>.log`, appended; a log over 20 MB is kept once as `.old`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.log"
    if path.exists() and path.stat().st_size > 20 * 2**20:
        path.replace(path.with_suffix(".log.old"))
    return path.open("ab")


def last_lines(path: Path, num_lines: int = 8) -> str:
    """The last lines of a log, or where it should have been."""
    if not path.exists():
        return f"no log at {path}"
    lines = path.read_text(errors="replace").splitlines()
    return f"last lines of {path}:\n" + "\n".join(lines[-num_lines:])
