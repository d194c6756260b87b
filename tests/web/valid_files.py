"""Small files that are what their names say, each with bytes of its own."""

import gzip
import json
import posixpath
import struct
import zlib

_EBML = b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm"
_SIZE = b"\xb0\x81\x10\xba\x81\x10"


def valid_file(path: str, mark: bytes = b"") -> bytes:
    """A file for this path that holds `mark`, by which it differs from others."""
    match posixpath.splitext(path)[1]:
        case ".png":
            return png(1, 1, zlib.compress(bytes(4)), mark)
        case ".webm":
            return webm(_SIZE, mark)
        case ".safetensors":
            header = json.dumps({"__metadata__": {"mark": mark.hex()}}).encode()
            return len(header).to_bytes(8, "little") + header
        case ".gz":
            return gzip.compress(mark, mtime=0)
        case ".json":
            return json.dumps(mark.hex()).encode()
    return mark or b"text"


def png(width: int, height: int, pixels: bytes, mark: bytes = b"") -> bytes:
    """A PNG in 8-bit RGB whose compressed lines are `pixels`."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"tEXt", b"mark\0" + mark), (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def webm(video: bytes, mark: bytes = b"") -> bytes:
    """A WebM of no pictures whose video track has these elements."""
    void = b"\xec" + (len(mark) | 1 << 56).to_bytes(8) + mark
    track = b"\xe0" + bytes([0x80 | len(video)]) + video
    tracks = b"\x16\x54\xae\x6b" + bytes([0x80 | len(track) + 2]) + b"\xae" + bytes([0x80 | len(track)]) + track
    return _EBML + b"\x18\x53\x80\x67" + b"\xff" + void + tracks


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
