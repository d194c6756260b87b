"""Presets: specs shipped as YAML, each validated as the `RunSpec` it becomes.

A file holds one preset, or several of a model family: a shared spec, and `variants` whose sections override it. Prompts
may be given as a text file in the folder `prompts`. An invalid preset is a defect of the installation and raises; a
test reads every shipped one.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any

import yaml
from django.conf import settings

from worker.contracts.run_spec import RunSpec


@dataclass(frozen=True, slots=True)
class Preset:
    name: str
    title: str
    description: str
    spec: RunSpec


def list_presets() -> list[Preset]:
    """All presets, ordered by the file's `order`, then name."""
    folder = Path(settings.TANDEM_PRESETS)
    try:
        return list(_presets(tuple(_written(folder))))
    except FileNotFoundError:
        # It was replaced since it was listed, as editors and git do: its successor is there now.
        return list(_presets(tuple(_written(folder))))


def _written(folder: Path) -> Iterator[tuple[Path, int]]:
    """The folder's files, with the times at which they were written."""
    for path in sorted(folder.rglob("*")):
        with suppress(FileNotFoundError):
            status = path.stat()
            if S_ISREG(status.st_mode):
                yield path, status.st_mtime_ns


@lru_cache(maxsize=1)
def _presets(written: tuple[tuple[Path, int], ...]) -> tuple[Preset, ...]:
    """The presets of these files, read again once one of them was written since."""
    documents = [found for path, _ in written if path.suffix == ".yaml" for found in _read(path)]
    # The sort is stable, so the variants of a file stay in its order.
    return tuple(preset for _, preset in sorted(documents, key=lambda pair: (pair[0], pair[1].name.partition("-")[0])))


def get_preset(name: str) -> Preset:
    """The preset of that name. Raises `LookupError` that lists the presets."""
    presets = {preset.name: preset for preset in list_presets()}
    if name not in presets:
        raise LookupError(f"there is no preset `{name}`: choose one of {', '.join(presets)}")
    return presets[name]


def _read(path: Path) -> Iterator[tuple[int, Preset]]:
    document = yaml.safe_load(path.read_text())
    base = document["spec"]
    if "prompts" in document:
        lines = (path.parent / "prompts" / document["prompts"]).read_text().splitlines()
        base = base | {"prompts": {"inline": lines}}
    for variant in document.get("variants", [None]):
        yield int(document["order"]), _preset(path, document, base, variant)


def _preset(path: Path, document: Mapping[str, Any], base: dict[str, Any], variant: Mapping[str, Any] | None) -> Preset:
    named = {field: str(document[field]).strip() for field in ("name", "title", "description")}
    if variant is not None:
        base = _overlaid(base, variant["spec"])
        named["name"] += f"-{variant['name']}"
        named["title"] += f": {variant['title']}"
        named["description"] += f" {str(variant['description']).strip()}"
    try:
        return Preset(**named, spec=RunSpec.model_validate(base))
    except ValueError as error:
        raise ValueError(f"the preset {named['name']} of {path.name} is not valid: {error}") from error


def _overlaid(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the fields of each section of `changes` overriding its own."""
    laid = dict(base)
    for name, section in changes.items():
        laid[name] = laid[name] | section if isinstance(section, Mapping) and name in laid else section
    return laid
