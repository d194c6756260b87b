"""Files in diffusers format: reading a LoRA back, and writing the download of full fine-tuning.

The published shards hold the trained weights already. What turns them into a folder that diffusers loads is written
here, for each transformer:

```text
<component>/config.json               the transformer's config
<component>/untrained.safetensors     stored weights and buffers that are not trained, if there are any
```
"""

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from worker.contracts.sections import LoraSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models.experts import experts_of
from worker.engine.sync.packing import pack
from worker.engine.types import UNTRAINED_FILE, PublishedShard

LORA_FILE = "pytorch_lora_weights.safetensors"
"""The file name that diffusers' `load_lora_weights` looks for."""
COMPONENT = "transformer"
"""The name of a pipeline's only transformer in diffusers."""
METADATA_KEY = "lora_adapter_metadata"
"""The key under which diffusers stores LoRA settings in a safetensors header."""


def read_lora(path: str, spec: LoraSpec) -> PublishedShard:
    """Read the LoRA at `path` (the file, or a folder that holds it) as policy version 0.

    Raises:
        ModelLoadError: when its rank or alpha differs from the spec's, which would scale its weights differently.
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
        # With several experts the names have the component as a prefix in memory too.
        return pack(stored, 0)
    return pack({name.removeprefix(f"{COMPONENT}."): tensor for name, tensor in stored.items()}, 0)


def write_untrained(folder: str, transformer: torch.nn.Module, untrained: Mapping[str, torch.Tensor]) -> None:
    """Write a folder for each transformer under its component's name, as in the module's docstring.

    Args:
        folder: where to make the folders.
        transformer: a transformer, or `Experts`.
        untrained: tensors on the CPU, by their names in `transformer`.
    """
    for prefix, expert in experts_of(transformer).items():
        own = Path(folder, prefix.removesuffix(".") or COMPONENT)
        expert.save_config(own)
        tensors = {name.removeprefix(prefix): untrained[name] for name in untrained if name.startswith(prefix)}
        if tensors:
            save_file(tensors, own / UNTRAINED_FILE)
