"""Files in diffusers format: a LoRA read back, which a run may start from; what a run of all weights leaves behind.

Such a run's weights are in its published shards already. Here are written the files that make a folder of them:

```text
<component>/config.json               the transformer's
<component>/untrained.safetensors     what is not trained and yet stored, where there is any
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
COMPONENT = "transformer"
METADATA_KEY = "lora_adapter_metadata"


def read_lora(path: str, spec: LoraSpec) -> PublishedShard:
    """The LoRA in `path` (the file, or a folder that holds it), as policy version 0.

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
        return pack(stored, 0)
    return pack({name.removeprefix(f"{COMPONENT}."): tensor for name, tensor in stored.items()}, 0)


def write_untrained(folder: str, transformer: torch.nn.Module, untrained: Mapping[str, torch.Tensor]) -> None:
    """A folder for each transformer under its component's name, as in the module's docstring.

    Args:
        folder: where to make them.
        transformer: one, or `Experts`.
        untrained: by the names in `transformer`, on the CPU.
    """
    for prefix, expert in experts_of(transformer).items():
        own = Path(folder, prefix.removesuffix(".") or COMPONENT)
        expert.save_config(own)
        tensors = {name.removeprefix(prefix): untrained[name] for name in untrained if name.startswith(prefix)}
        if tensors:
            save_file(tensors, own / UNTRAINED_FILE)
