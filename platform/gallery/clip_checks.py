"""Whether a file is the clip that its name says: WebM (RFC 8794 and RFC 9559), of a size that can be shown."""

from typing import IO

from gallery.content_errors import ContentRefused
from gallery.picture_checks import check_size

_HEAD_BYTES = 2**16
"""Where players look for the tracks of a clip."""
_EBML, _DOC_TYPE, _SEGMENT, _TRACKS, _TRACK, _VIDEO = 0x1A45DFA3, 0x4282, 0x18538067, 0x1654AE6B, 0xAE, 0xE0
_WIDTH, _HEIGHT = 0xB0, 0xBA
_INNER = (_EBML, _SEGMENT, _TRACKS, _TRACK, _VIDEO)
"""Elements that hold elements."""


def check_webm(file: IO[bytes], num_bytes: int) -> None:
    """Its header, and the sizes of its pictures."""
    head = file.read(_HEAD_BYTES)
    found: dict[int, bytes] = {}
    place = 0
    if not head.startswith(_EBML.to_bytes(4)):
        raise ContentRefused("it is no WebM")
    while place < len(head) and not {_DOC_TYPE, _WIDTH, _HEIGHT} <= found.keys():
        element, place = _vint(head, place, keeps_marker=True)
        size, place = _vint(head, place, keeps_marker=False)
        if element in _INNER:
            continue
        found.setdefault(element, head[place : place + min(size, 8)])
        place += size
    if found.get(_DOC_TYPE, b"").rstrip(b"\0") != b"webm":
        raise ContentRefused("it is no WebM")
    if _WIDTH not in found or _HEIGHT not in found:
        raise ContentRefused("its WebM names no width and height among its first bytes")
    check_size(int.from_bytes(found[_WIDTH]), int.from_bytes(found[_HEIGHT]))


def _vint(head: bytes, place: int, *, keeps_marker: bool) -> tuple[int, int]:
    """A number of variable length, and the place behind it."""
    length = 9 - head[place].bit_length() if place < len(head) else 9
    if length > 8 or place + length > len(head):
        raise ContentRefused("its WebM ends among its headers")
    number = int.from_bytes(head[place : place + length])
    return number if keeps_marker else number & ((1 << 7 * length) - 1), place + length
