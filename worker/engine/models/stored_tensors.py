"""The files of a diffusers model: which of them stores each tensor."""

import json
from pathlib import Path

from safetensors import safe_open

from worker.engine.errors import ModelLoadError

INDEX_SUFFIX = ".safetensors.index.json"
"""The ending of diffusers' index of a model stored in several files."""


def stored_files(folder: Path) -> dict[str, Path]:
    """The file of each stored tensor, by the tensor's name. Raises `ModelLoadError` where there are no files."""
    found: dict[str, Path] = {}
    for index in folder.glob(f"*{INDEX_SUFFIX}"):
        found |= {name: folder / file for name, file in json.loads(index.read_text())["weight_map"].items()}
    if found:
        return found
    # As in diffusers, a variant (`….fp16.safetensors`) is read only where no plain file holds the tensor.
    for file in sorted(folder.glob("*.safetensors"), key=lambda file: -file.name.count(".")):
        with safe_open(file, framework="pt") as content:
            found |= dict.fromkeys(content.keys(), file)
    if not found:
        raise ModelLoadError(f"{folder} must hold safetensors weights, got none")
    return found
