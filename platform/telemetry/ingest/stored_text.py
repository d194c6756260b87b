"""JSON whose texts PostgreSQL can store."""

import re

_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
"""Behind an even number of backslashes; behind an odd one it is a backslash and five characters."""


def without_nul(raw: bytes) -> bytes:
    """The JSON with U+FFFD for every NUL character: a log line, or a driver's message, that holds one must not block
    everything that is reported with it."""
    return _NUL.sub(rb"\1\\ufffd", raw) if rb"\u0000" in raw else raw
