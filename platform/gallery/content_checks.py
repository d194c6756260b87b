"""What is uploaded is what its name says: pictures, clips, weights and texts are looked into before they are kept.

Invariant: nothing that a page shows or a program loads makes it work or allocate beyond the bounds of its check.
"""

import posixpath
from collections.abc import Callable
from typing import IO

from gallery.clip_checks import check_webm
from gallery.content_errors import ContentRefused
from gallery.picture_checks import check_png
from gallery.text_checks import check_json, check_text
from gallery.weight_checks import check_safetensors


def check_content(path: str, file: IO[bytes], num_bytes: int) -> None:
    """Raises `ContentRefused` for an empty file, and for one that is not what its ending says."""
    if num_bytes == 0:
        raise ContentRefused("it is empty")
    _CHECKS[posixpath.splitext(path)[1].lower()](file, num_bytes)


def _check_gzip(file: IO[bytes], num_bytes: int) -> None:
    if file.read(3) != b"\x1f\x8b\x08":
        raise ContentRefused("it is no gzip")


_CHECKS: dict[str, Callable[[IO[bytes], int], None]] = {
    ".png": check_png,
    ".webm": check_webm,
    ".safetensors": check_safetensors,
    ".json": check_json,
    ".yaml": check_text,
    ".txt": check_text,
    ".gz": _check_gzip,
}
"""For every ending that is stored."""
