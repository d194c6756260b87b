"""The download of full fine-tuning, in diffusers format.

The published shards hold the trained weights already. What turns them into a folder that diffusers loads is written
here, for each transformer:

```text
<component>/config.json               the transformer's config
<component>/untrained.safetensors     stored weights and buffers that are not trained, if there are any
```
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file

from worker.engine.models.experts import experts_of
from worker.engine.types import UNTRAINED_FILE

COMPONENT = "transformer"
"""The name of a pipeline's only transformer in diffusers."""


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
