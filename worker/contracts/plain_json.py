"""What every JSON or YAML document of a user must hold to before anything else reads it.

Invariant: what passes can be written to PostgreSQL as JSON and read back unchanged, and walked by recursion.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

MAX_DEPTH = 32
"""Of lists and mappings within each other. A spec has 6, and Python's own recursion ends near 1,000."""
_LISTS = (list, tuple)


def json_problems(document: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with `document`: dotted path and sentence, in the document's order."""
    if is_plain(document):
        return
    todo: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while todo:
        place, value = todo.pop()
        if len(place) > MAX_DEPTH:
            path = ".".join(place[:MAX_DEPTH])
            yield path, f"lists and mappings must be nested ≤ {MAX_DEPTH} deep, got more: flatten them"
            continue
        match value:
            case str():
                problem = text_problem(value)
            case float() if not math.isfinite(value):
                problem = f"must be a finite number, got {value}"
            case Mapping():
                problem = next((f"has a name that {said}" for name in value if (said := text_problem(str(name)))), "")
                todo.extend(((*place, str(name)), inner) for name, inner in reversed(list(value.items())))
            case list() | tuple():
                problem = ""
                todo.extend(((*place, str(index)), value[index]) for index in reversed(range(len(value))))
            case _:
                problem = ""
        if problem:
            path = ".".join(place)
            yield path, f"`{path or 'the document'}` {problem}"


def is_plain(document: Any) -> bool:
    """Whether nothing is wrong, level by level and without the paths, which cost ten times as much."""
    level = [document]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        # The kinds of JSON first, because asking for any mapping takes as long as all of them.
        for value in level:
            if isinstance(value, str):
                if (not value.isascii() or "\0" in value) and text_problem(value):
                    return False
            elif value is None or isinstance(value, int):
                continue
            elif isinstance(value, float):
                if not math.isfinite(value):
                    return False
            elif isinstance(value, _LISTS):
                inner += value
            elif isinstance(value, (dict, Mapping)):
                inner += map(str, value)
                inner += value.values()
        if not inner:
            return True
        level = inner
    return False


def text_problem(text: str) -> str:
    """Why a text cannot be stored, as the rest of a sentence; empty if it can."""
    if "\0" in text:
        return "must not hold a NUL character (code 0): remove it; is its file really text?"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "must not hold half of a surrogate pair: remove the characters that cannot be shown"
    return ""
