"""What an import gives: the document of a spec, what each of its settings came from, and what has no place in it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_CHARACTERS = 200_000
"""Of a text to import: a file of recipes has some tens of thousands."""


class ImportRefused(ValueError):
    """The text cannot be read as such a configuration; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A setting of the spec, and what it was made of."""

    path: str
    """Dotted path in the spec."""
    value: Any
    source: str
    """Names of the settings that were read, or where else the value comes from."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A setting that was read and is not in the spec."""

    source: str
    value: Any
    why: str


@dataclass(slots=True)
class Import:
    """Collects an import. What `settings` hold and nobody has read is left out, by construction."""

    settings: Mapping[str, Any]
    carried: list[Carried] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def number(self, name: str) -> int | float | None:
        """A setting that must be a number."""
        return self._of_kind(name, (int, float), "a number")

    def count(self, name: str) -> int | None:
        """A setting that must be a whole number from 1 on."""
        value = self._of_kind(name, int, "a whole number")
        return value if value is None or value > 0 else None

    def flag(self, name: str) -> bool | None:
        return self._of_kind(name, bool, "true or false")

    def text(self, name: str) -> str | None:
        return self._of_kind(name, str, "a text")

    def numbers(self, name: str) -> Mapping[str, int | float]:
        """A setting that must be a number for each name."""
        found = self._of_kind(name, Mapping, "numbers by name") or {}
        if all(_is_a(value, (int, float)) for value in found.values()):
            return found
        self.leave(name, "it must be numbers by name")
        return {}

    def pair(self, name: str) -> tuple[int, int] | None:
        """A setting that must be two whole numbers, the second larger than the first."""
        words = "two whole numbers, the first from 0 on and smaller"
        match self._of_kind(name, list, words):
            case None:
                return None
            case [begin, end] if _is_a(begin, int) and _is_a(end, int) and 0 <= begin < end:
                return begin, end
        self.leave(name, f"it must be {words}")
        return None

    def _of_kind(self, name: str, kind: Any, words: str) -> Any:
        """The value of a setting, which the caller now carries or leaves out; None where it is not there, and where it
        is nothing that could be carried, which is then said."""
        self._seen.add(name)
        value = self.settings.get(name)
        if value is None or _is_a(value, kind):
            return value
        self.leave(name, f"it must be {words}, and is not, or is computed by what is not read: set it by hand")
        return None

    def carry(self, path: str, value: Any, source: str) -> None:
        self.carried.append(Carried(path, value, source))

    def take(self, name: str, path: str) -> None:
        """Carry a number as it is, if it is there."""
        if (value := self.number(name)) is not None:
            self.carry(path, value, name)

    def leave(self, name: str, why: str) -> None:
        self._seen.add(name)
        if all(one.source != name for one in self.left_out):
            self.left_out.append(LeftOut(name, _shown(self.settings.get(name)), why))

    def ignore(self, *names: str) -> None:
        """Say nothing of settings that only concern where the other trainer writes, and the like."""
        self._seen.update(names)

    def finish(self) -> None:
        """Leave out whatever nobody has read."""
        for name in sorted(self.settings.keys() - self._seen):
            self.leave(name, "no setting of a run corresponds to it")

    @property
    def document(self) -> dict[str, Any]:
        """The spec's document, which may lack what a spec needs, as its prompts."""
        document: dict[str, Any] = {}
        for one in self.carried:
            *sections, last = one.path.split(".")
            place = document
            for section in sections:
                place = place.setdefault(section, {})
            place[last] = one.value
        return document


def _is_a(value: Any, kind: Any) -> bool:
    """As `isinstance`, but that true and false are no numbers, and only finite ones count."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, kind) and not (isinstance(value, float) and not math.isfinite(value))


def _shown(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(key): _shown(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(each) for each in value]
    is_plain = isinstance(value, str | int | None) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else str(value)
