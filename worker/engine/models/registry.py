"""Model families by contract name, and the one way to load a base model."""

from pathlib import Path

import diffusers.utils.logging
import torch
import transformers.utils.logging

from worker.contracts.names import ModelFamily
from worker.contracts.sections import BaseModelSpec
from worker.engine.errors import ModelLoadError, listing
from worker.engine.models.base import ModelAdapter
from worker.engine.models.device import resolve_device
from worker.engine.models.flux import FluxAdapter

MODEL_ADAPTERS: dict[ModelFamily, type[FluxAdapter]] = {ModelFamily.FLUX: FluxAdapter}

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
PICKLED_SUFFIXES = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"})


def load_model(spec: BaseModelSpec, base_model_path: str, *, device: str | torch.device | None = None) -> ModelAdapter:
    """The base model, frozen, on `device` (default: the accelerator's current one).

    Args:
        spec: family and dtype.
        base_model_path: an existing folder in diffusers layout, or a hub id.
        device: where to put it.

    Raises:
        ModelLoadError: when the folder holds pickled weights or lacks what the family's pipeline needs.
    """
    _refuse_pickles(Path(base_model_path))
    # A lane's output is a log, where a progress bar is a hundred lines.
    diffusers.utils.logging.disable_progress_bar()
    transformers.utils.logging.disable_progress_bar()
    try:
        return MODEL_ADAPTERS[spec.family](base_model_path, resolve_device(device), DTYPES[spec.dtype])
    except OSError as error:
        raise ModelLoadError(
            f"`base_model.path` must be a {spec.family.value} checkpoint in diffusers layout with safetensors "
            f"weights, got {base_model_path}: {error}"
        ) from error


def _refuse_pickles(folder: Path) -> None:
    if not folder.is_dir():
        return
    pickled = [str(file.relative_to(folder)) for file in folder.rglob("*") if file.suffix in PICKLED_SUFFIXES]
    if pickled:
        raise ModelLoadError(
            f"`base_model.path` must hold safetensors weights only, got {listing(pickled)}: "
            "pickled files can run code; convert them with `save_pretrained(safe_serialization=True)`"
        )
