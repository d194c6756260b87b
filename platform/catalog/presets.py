"""Presets: specs shipped as YAML, each validated as the `RunSpec` it becomes.

A preset file that does not validate is a defect of the installation and raises; a test reads every shipped one.
"""

from dataclasses import dataclass
from pathlib import Path

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
    documents = [_read(path) for path in sorted(Path(settings.TANDEM_PRESETS).glob("*.yaml"))]
    return [preset for _, preset in sorted(documents, key=lambda pair: (pair[0], pair[1].name))]


def get_preset(name: str) -> Preset:
    """Raises `LookupError` naming the presets there are."""
    presets = {preset.name: preset for preset in list_presets()}
    if name not in presets:
        raise LookupError(f"there is no preset `{name}`: choose one of {', '.join(presets)}")
    return presets[name]


def _read(path: Path) -> tuple[int, Preset]:
    document = yaml.safe_load(path.read_text())
    try:
        spec = RunSpec.model_validate(document["spec"])
    except ValueError as error:
        raise ValueError(f"the preset {path.name} is not valid: {error}") from error
    preset = Preset(
        name=document["name"], title=document["title"], description=document["description"].strip(), spec=spec
    )
    return int(document["order"]), preset
