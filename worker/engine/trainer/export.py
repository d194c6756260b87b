"""A LoRA file in diffusers format, read back as a published adapter: what a run may start from."""

import json
from pathlib import Path

from safetensors import safe_open

from worker.contracts.sections import LoraSpec
from worker.engine.errors import ModelLoadError
from worker.engine.sync.adapter import publish
from worker.engine.types import PublishedAdapter

LORA_FILE = "pytorch_lora_weights.safetensors"
COMPONENT = "transformer"
METADATA_KEY = "lora_adapter_metadata"


def read_lora(path: str, spec: LoraSpec) -> PublishedAdapter:
    """The adapter in `path` (the file, or a folder that holds it), as policy version 0.

    Raises:
        ModelLoadError: when its rank or alpha is not the spec's, which would make it another policy.
    """
    file = Path(path) / LORA_FILE if Path(path).is_dir() else Path(path)
    with safe_open(file, framework="pt") as content:
        stored = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
        metadata = json.loads((content.metadata() or {}).get(METADATA_KEY, "{}"))
    settings = {name.removeprefix(f"{COMPONENT}."): value for name, value in metadata.items()}
    for name, wanted in (("r", spec.rank), ("lora_alpha", spec.alpha)):
        if settings.get(name) != wanted:
            raise ModelLoadError(f"`{name}` of {file.name} must be {wanted} as in `lora`, got {settings.get(name)}")
    if not all(name.startswith(f"{COMPONENT}.") for name in stored):
        # Several experts: in memory too, each one's tensors bear its component's name.
        return publish(stored, 0)
    return publish({name.removeprefix(f"{COMPONENT}."): tensor for name, tensor in stored.items()}, 0)
