"""Loads a transformer tensor by tensor, from its files straight to the device and into the dtype that it computes in.

Published checkpoints may be in fp32 (Wan's are: 57 GB for 14 billion weights). diffusers casts them on the CPU and
moves the whole model afterwards, so that each lane of a node held all of its weights in host memory at once. Here it
holds one tensor, as its file stores it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from accelerate import init_empty_weights
from accelerate.utils import set_module_tensor_to_device
from safetensors import safe_open

from worker.engine.models.stored_tensors import stored_files
from worker.engine.step_count import advance


def load_streamed(folder: Path, model_class: Any, *, device: torch.device, dtype: torch.dtype) -> torch.nn.Module:
    """The model in `folder`, bit for bit as `from_pretrained` loads and `to` moves it, but for weights that no file
    has: they are left on the meta device.

    Raises:
        ModelLoadError: for a folder without safetensors weights.
        ValueError: for a weight of another shape than the model's.
    """
    with init_empty_weights(include_buffers=False), _default_dtype(dtype):
        model: Any = model_class.from_config(model_class.load_config(folder))
    kept = set(model_class._keep_in_fp32_modules or ())
    known = model.state_dict().keys()
    files = {name: file for name, file in stored_files(folder).items() if name in known}
    for file, names in groupby(sorted(files, key=lambda name: (files[name], name)), key=files.__getitem__):
        with safe_open(file, framework="pt") as content:
            for name in names:
                advance()
                value = content.get_tensor(name)
                wanted = torch.float32 if kept.intersection(name.split(".")) else dtype
                # Moved first: the cast is the device's work, and half as long there as the copy.
                value = value.to(device).to(wanted if value.is_floating_point() else value.dtype)
                set_module_tensor_to_device(model, name, device, value=value, dtype=value.dtype)
    for name, buffer in list(model.named_buffers()):
        if name not in files:
            set_module_tensor_to_device(model, name, device, value=buffer, dtype=buffer.dtype)
    model.register_to_config(_name_or_path=str(folder))
    loaded: torch.nn.Module = model.eval()
    return loaded


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """The dtype of what a model makes itself, such as buffers; diffusers sets it likewise."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
