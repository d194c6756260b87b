"""What an import gives: the document of a spec, what each of its settings came from, and what has no place in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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

    def read(self, name: str, default: Any = None) -> Any:
        """The value of a setting, which the caller now carries or leaves out."""
        self._seen.add(name)
        return self.settings.get(name, default)

    def carry(self, path: str, value: Any, source: str) -> None:
        self.carried.append(Carried(path, value, source))

    def take(self, name: str, path: str) -> None:
        """Carry a setting as it is, if it is there."""
        if (value := self.read(name)) is not None:
            self.carry(path, value, name)

    def leave(self, name: str, why: str) -> None:
        self.left_out.append(LeftOut(name, _shown(self.read(name)), why))

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


def _shown(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(key): _shown(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
