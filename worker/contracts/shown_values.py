"""A value that a user gave, as the sentence that refuses it repeats it: in a form's words, cut short."""

from collections.abc import Mapping
from typing import Any

MAX_SHOWN_CHARS = 60
"""Enough to recognise what was written, on one line of the form."""


def shown(value: Any) -> str:
    """`true`, `nothing`, `1.5`, `'text'`, `a list of 3`, `a mapping`; long texts and numbers end in `…`."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return "an empty text" if not value else repr(cut(value))
        case int():
            # From some thousand digits on, Python refuses to write a number out.
            return str(value) if abs(value) < 10**MAX_SHOWN_CHARS else f"a number of {value.bit_length()} bits"
        case float():
            return f"{value:g}"
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return f"a list of {len(value)}"
    return f"a value of type {type(value).__name__}"


def cut(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[: MAX_SHOWN_CHARS - 1]}…"
