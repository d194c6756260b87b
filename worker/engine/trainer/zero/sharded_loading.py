"""Load a model for ZeRO 3, sharding it while it is read: no rank ever holds more than its shards and one layer."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import deepspeed
import diffusers
import torch
from accelerate import init_empty_weights
from deepspeed.accelerator import get_accelerator
from safetensors import safe_open

from worker.engine.errors import ModelLoadError, listing
from worker.engine.models.checkpoint_folder import INDEX, checkpoint_folder
from worker.engine.models.stored_tensors import stored_files
from worker.engine.step_count import advance


def load_sharded(
    path: str, dtype: torch.dtype, config: dict[str, Any], *, on_cpu: bool = False
) -> dict[str, torch.nn.Module]:
    """The transformers of a diffusers checkpoint, whose weights go from safetensors into shards layer by layer.

    Each module tree is made without weights, and a layer's parameters are handed to `deepspeed.zero.Init` as soon as
    they are read. Building the tree inside that context instead would round tables that models compute in float64.

    Args:
        path: a folder in diffusers layout, or a hub id.
        dtype: the weights' dtype, except for those that the model keeps in fp32.
        config: DeepSpeed's configuration.
        on_cpu: shard in host memory, and move the shards to the device afterwards.

    Returns:
        The transformers by component name, frozen.

    Raises:
        ModelLoadError: when files and model do not hold the same names and shapes.
    """
    folder = checkpoint_folder(path)
    index = json.loads((folder / INDEX).read_text())
    # A pipeline lists optional components that a checkpoint lacks: Wan2.1 has `[null, null]` for `transformer_2`.
    names = [name for name in index if name.startswith("transformer") and index[name][1]]
    sharder = _Sharder(config, on_cpu=on_cpu)
    return {name: _load_one(folder / name, getattr(diffusers, index[name][1]), dtype, sharder) for name in names}


class _Sharder:
    """Shards parameters with one `deepspeed.zero.Init`, so that its configuration is read once."""

    def __init__(self, config: dict[str, Any], *, on_cpu: bool) -> None:
        self._config = config
        self._on_cpu = on_cpu
        self._first: Any = None

    def __call__(self, parameters: list[torch.nn.Parameter]) -> None:
        """Shard `parameters` in place: rank 0's values, over all ranks."""
        if not parameters:
            return
        if self._first is None:
            deepspeed.zero.Init(
                module=torch.nn.ParameterList(parameters),
                config_dict_or_path=self._config,
                remote_device="cpu" if self._on_cpu else None,
            )
            self._first = parameters[0]
        else:
            self._first.convert_to_zero_parameters(param_list=parameters)
        if self._on_cpu and "offload_param" not in self._config["zero_optimization"]:
            for parameter in parameters:
                parameter.ds_tensor.data = parameter.ds_tensor.data.to(get_accelerator().current_device_name())


def _load_one(folder: Path, model_class: Any, dtype: torch.dtype, sharder: _Sharder) -> torch.nn.Module:
    with init_empty_weights(include_buffers=False):
        model: torch.nn.Module = model_class.from_config(model_class.load_config(folder))
    files = stored_files(folder)
    _check_names(model, set(files), folder)
    kept_in_fp32 = set(model_class._keep_in_fp32_modules or ())
    for prefix, leaf in model.named_modules():
        for name, _ in list(leaf.named_parameters(recurse=False)):
            full_name = _joined(prefix, name)
            is_kept = kept_in_fp32.intersection(full_name.split("."))
            _fill(leaf, name, files[full_name], full_name, torch.float32 if is_kept else dtype)
        sharder(list(leaf.parameters(recurse=False)))
        _fill_buffers(leaf, prefix, files)
    return model.requires_grad_(False).eval()


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _fill(leaf: torch.nn.Module, name: str, file: Path, full_name: str, dtype: torch.dtype) -> None:
    """Read a parameter on rank 0; the others allocate it, since `zero.Init` broadcasts rank 0's values and shards them.

    Raises:
        ModelLoadError: for another shape than the model's.
    """
    advance()
    wanted = leaf._parameters[name]
    assert wanted is not None, "named by the module itself"
    with safe_open(file, framework="pt") as content:
        shape = tuple(content.get_slice(full_name).get_shape())
        if shape != tuple(wanted.shape):
            raise ModelLoadError(f"`{full_name}` must have shape {tuple(wanted.shape)}, got {shape} in {file}")
        if torch.distributed.get_rank() == 0:
            value = content.get_tensor(full_name).to(dtype)
        else:
            value = torch.empty(shape, dtype=dtype)
    leaf._parameters[name] = torch.nn.Parameter(value, requires_grad=False)


def _fill_buffers(leaf: torch.nn.Module, prefix: str, files: Mapping[str, Path]) -> None:
    """Move a module's own buffers to the device, with the stored values where the files have them."""
    device = torch.device(get_accelerator().current_device_name())
    for name, buffer in leaf.named_buffers(recurse=False):
        full_name = _joined(prefix, name)
        if full_name in files:
            with safe_open(files[full_name], framework="pt") as content:
                buffer = content.get_tensor(full_name)
        leaf._buffers[name] = buffer.to(device)


def _check_names(model: torch.nn.Module, stored: set[str], folder: Path) -> None:
    """Raise `ModelLoadError` unless `stored` has every parameter of `model`, and nothing but its state."""
    parameters = {name for name, _ in model.named_parameters()}
    known = set(model.state_dict())
    if missing := parameters - stored:
        raise ModelLoadError(f"{folder} must hold every weight of its model, missing are {listing(missing, 5)}")
    if extra := stored - known:
        raise ModelLoadError(f"{folder} holds weights that its model does not have: {listing(extra, 5)}")
