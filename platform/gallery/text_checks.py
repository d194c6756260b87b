"""Whether a file is the text that its name says."""

import codecs
import json
from typing import IO, Any

from gallery.content_errors import ContentRefused

CHUNK_BYTES = 2**16
MAX_JSON_BYTES = 16 * 2**20
"""Of the index of sharded weights, which names each tensor."""


def check_json(file: IO[bytes], num_bytes: int) -> None:
    if num_bytes > MAX_JSON_BYTES:
        raise ContentRefused(f"JSON must be ≤ {MAX_JSON_BYTES} bytes, got {num_bytes}")
    json_of(file.read())


def json_of(content: bytes) -> Any:
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise ContentRefused(f"its JSON cannot be read: {str(error)[:100]}") from error


def check_text(file: IO[bytes], num_bytes: int) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := file.read(CHUNK_BYTES):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise ContentRefused(f"it is no text in UTF-8: {error.reason} at byte {error.start}") from error
