"""Pydantic's errors as sentences by dotted path: the one place where its own words are replaced.

A sentence names the key, what is accepted, what was given (cut short), and what to do. Errors that a contract raises
itself are sentences already and stay as they are. Invariant, held by a test: no value at any place of a `RunSpec` gets
a message in pydantic's words.
"""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from worker.contracts.shown_values import shown

Sentences = dict[str, list[str]]

_NAMED_FIELD = re.compile(r"`([a-z_]+(?:\.[a-z_0-9]+)*)`")
_VARIANT_SECTION = "algorithm"
"""Pydantic puts the name of the algorithm before its settings, which the path in a spec does not have."""

PATTERN_WORDS: dict[str, str] = {
    r"^[a-z][a-z0-9_]*$": "small letters, digits and `_`, beginning with a letter",
    r"^[A-Za-z0-9][A-Za-z0-9._:-]*$": "letters, digits, `.`, `_`, `:` and `-`, beginning with a letter or digit",
    r"^[a-z0-9][a-z0-9_-]*$": "small letters, digits, `_` and `-`, beginning with a letter or digit",
    r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$": "names of small letters, digits and `_`, with dots between them",
    r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$": "small letters and digits, with `-` between them only",
}
"""What the patterns of the contracts accept, in words."""


def error_sentences(error: ValidationError, known: Callable[[str], list[str]] = lambda path: []) -> Sentences:
    """Sentences by the dotted path of the field at fault; the path of the whole document is empty.

    Args:
        error: pydantic's.
        known: the names that a mapping at a dotted path may hold, from which a misspelt one is guessed.
    """
    found: Sentences = {}
    for item in error.errors(include_url=False):
        path = dotted(item["loc"])
        if item["type"] == "value_error":
            message = item["msg"].removeprefix("Value error, ")
            # Pydantic reports rules over several fields at the section; the message names the field to change.
            named = _NAMED_FIELD.match(message)
            path = _joined(path, named.group(1)) if named else path
        elif item["type"] in ("union_tag_invalid", "union_tag_not_found"):
            path = f"{path}.{_context(item)['discriminator'].strip(chr(39))}"
            message = f"`{path}` {_sentence(item, path)}"
        elif item["type"] == "extra_forbidden":
            message = f"`{path}` {_unknown(path, known)}"
        else:
            message = f"`{path or 'the document'}` {_sentence(item, path)}"
        found.setdefault(path, []).append(message)
    # For a list whose only items are invalid, pydantic also reports that it is too short, which is redundant.
    short = {dotted(item["loc"]) for item in error.errors(include_url=False) if item["type"] == "too_short"}
    return {path: texts for path, texts in found.items() if path not in short or not _has_below(found, path)}


def dotted(location: tuple[int | str, ...]) -> str:
    """The dotted path of pydantic's location."""
    if location[:1] == (_VARIANT_SECTION,):
        location = (_VARIANT_SECTION, *location[2:])
    return ".".join(map(str, location))


def _has_below(found: Sentences, path: str) -> bool:
    return any(other.startswith(f"{path}.") for other in found)


def _joined(path: str, named: str) -> str:
    """The path of the field that a message at `path` names: by its full path, from its section, or by its own name."""
    if not path or named.partition(".")[0] == path.partition(".")[0]:
        return named
    return path if path.endswith(f".{named}") else f"{path}.{named}"


def _context(item: ErrorDetails) -> Mapping[str, Any]:
    return item.get("ctx", {})


def _unknown(path: str, known: Callable[[str], list[str]]) -> str:
    section, _, name = path.rpartition(".")
    names = known(section)
    if name in names:
        return "does not belong to what is chosen by `name`: remove it"
    near = get_close_matches(name, names, n=1)
    if near:
        return f"is no setting: did you mean `{near[0]}`?"
    listed = f" ({', '.join(names)})" if names else ""
    return f"is no setting: remove it, or use one that there is{listed}"


def _sentence(item: ErrorDetails, path: str) -> str:
    """The rest of the sentence after the field's name."""
    kind, got = item["type"], shown(_context(item).get("tag", item["input"]))
    if kind in ("missing", "union_tag_not_found"):
        return "is missing: give it a value"
    if (wanted := _wanted(kind, _context(item))) is None:
        return f"is refused, got {got}: {item['msg'][0].lower()}{item['msg'][1:]}"
    return f"must be {wanted}, got {got}{_advice(item)}"


_KINDS: Mapping[str, str] = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a finite number",
    "bool": "true or false",
    "string": "a text",
    "tuple": "a list",
    "list": "a list",
    "dict": "a mapping of names to values",
    "model": "a mapping of settings",
    "none": "empty",
    "json": "a JSON value",
}
"""What a field takes, by the first word of pydantic's error type."""


_OF_KIND = ("_type", "_parsing", "_parsing_size", "_number", "_float")
"""Ends of error types that say that a value is of another kind."""


def _wanted(kind: str, context: Mapping[str, Any]) -> str | None:
    """What a field takes, as the object of a sentence; `None` for a kind of error that has no words yet."""
    match kind:
        case "greater_than_equal":
            return f"≥ {context['ge']:g}" if isinstance(context["ge"], float) else f"≥ {context['ge']}"
        case "greater_than":
            return f"> {context['gt']:g}"
        case "less_than_equal":
            return f"≤ {context['le']:g}" if isinstance(context["le"], float) else f"≤ {context['le']}"
        case "less_than":
            return f"< {context['lt']:g}"
        case "multiple_of":
            return f"a multiple of {context['multiple_of']:g}"
        case "enum" | "literal_error":
            return f"one of {str(context['expected']).replace(chr(39), '')}"
        case "union_tag_invalid":
            return f"one of {str(context['expected_tags']).replace(chr(39), '')}"
        case "string_too_long":
            return f"a text of ≤ {context['max_length']} characters"
        case "string_too_short":
            return f"a text of ≥ {context['min_length']} characters"
        case "string_pattern_mismatch":
            return f"written with {PATTERN_WORDS.get(context['pattern'], context['pattern'])}"
        case "too_long":
            return f"a list of ≤ {context['max_length']}"
        case "too_short":
            return f"a list of ≥ {context['min_length']}"
    return _KINDS.get(kind.partition("_")[0]) if kind.endswith(_OF_KIND) else None


_MAX_PROPOSED = 10**9
"""Above, a neighbouring multiple helps nobody."""


def _advice(item: ErrorDetails) -> str:
    """What to do, where the bound does not say it."""
    given, context = item["input"], _context(item)
    match item["type"]:
        case "multiple_of":
            multiple = int(context["multiple_of"])
            below = int(given) // multiple * multiple
            return f": take {below} or {below + multiple}" if abs(below) < _MAX_PROPOSED else ""
        case "too_long":
            return f" of {context['actual_length']}: leave some out" if context.get("actual_length") else ""
        case "too_short":
            return ": give at least one" if context["min_length"] == 1 else ": give more"
        case "string_too_long":
            return f" ({len(given)} characters): shorten it"
        case "string_too_short":
            return ": write something"
    return ""
