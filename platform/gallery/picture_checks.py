"""Whether a file is the picture that its name says (https://www.w3.org/TR/png-3/), of a size that can be shown.

Invariant: memory for one chunk, and work in proportion to the pixels that are allowed, whatever a few bytes claim.
"""

import struct
import zlib
from typing import IO

from gallery.content_errors import ContentRefused, read_exactly

CHUNK_BYTES = 2**16
MAX_SIDE_PIXELS = 16_384
"""Of pictures and clips: what browsers and graphics cards still show."""
MAX_PICTURE_PIXELS = 2**25
"""Twice those of 4096 × 4096; at 4 bytes each a browser holds 128 MiB."""
MAX_PICTURE_BYTES = 128 * 2**20
"""As many pixels in three colours, of noise."""
_PNG = b"\x89PNG\r\n\x1a\n"
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Samples of a pixel by colour type."""


def check_png(file: IO[bytes], num_bytes: int) -> None:
    """Inflates the whole picture, without keeping it: it must have exactly the bytes of its width and height."""
    if num_bytes > MAX_PICTURE_BYTES:
        raise ContentRefused(f"a picture must be ≤ {MAX_PICTURE_BYTES} bytes, got {num_bytes}")
    if file.read(len(_PNG)) != _PNG:
        raise ContentRefused("it is no PNG")
    kind, header = _chunk(file, num_bytes)
    if kind != b"IHDR" or len(header) != 13:
        raise ContentRefused("its PNG does not begin with a header")
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    check_size(width, height)
    if colour not in _SAMPLES or depth not in (1, 2, 4, 8, 16) or interlaced:
        raise ContentRefused(f"its PNG has colour type {colour}, depth {depth} or lines that are interlaced")
    expected = height * (1 + (width * depth * _SAMPLES[colour] + 7) // 8)
    inflater, found = zlib.decompressobj(), 0
    while kind != b"IEND":
        kind, data = _chunk(file, num_bytes)
        while kind == b"IDAT" and data and found <= expected:
            try:
                found += len(inflater.decompress(data, CHUNK_BYTES))
            except zlib.error as error:
                raise ContentRefused(f"its PNG cannot be inflated: {error}") from error
            data = inflater.unconsumed_tail
    while found <= expected and (rest := inflater.decompress(b"", CHUNK_BYTES)):
        found += len(rest)
    if found != expected:
        raise ContentRefused(f"its PNG must hold {expected} bytes for {width} × {height} pixels, got {found}")


def _chunk(file: IO[bytes], num_bytes: int) -> tuple[bytes, bytes]:
    length, kind = struct.unpack(">I4s", read_exactly(file, 8, "its PNG"))
    if length > num_bytes:
        raise ContentRefused("its PNG ends before its end")
    data = read_exactly(file, length, "its PNG")
    if struct.unpack(">I", read_exactly(file, 4, "its PNG"))[0] != zlib.crc32(kind + data):
        raise ContentRefused(f"the checksum of its PNG's chunk {kind!r} is wrong")
    return kind, data


def check_size(width: int, height: int) -> None:
    """Raises `ContentRefused` for a picture or clip that is too large to be shown."""
    if not (0 < width <= MAX_SIDE_PIXELS and 0 < height <= MAX_SIDE_PIXELS and width * height <= MAX_PICTURE_PIXELS):
        raise ContentRefused(
            f"a picture must have sides of 1 to {MAX_SIDE_PIXELS} pixels and ≤ {MAX_PICTURE_PIXELS} pixels in all, "
            f"got {width} × {height}"
        )
