"""Load a pipeline in part: a trainer needs no autoencoder, a lane with embeddings at hand no text encoder.

A transformer or autoencoder that is left out stands in the pipeline as a skeleton on the meta device: its config still
answers (scale factors, channels), its weights take no memory and cannot be used by mistake.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

import diffusers
import torch

from worker.engine.errors import ModelLoadError


class Part(Enum):
    TRANSFORMER = auto()
    TEXT_ENCODERS = auto()
    VAE = auto()


ALL_PARTS = frozenset(Part)
WITHOUT_TEXT = frozenset({Part.TRANSFORMER, Part.VAE})
TEXT_ONLY = frozenset({Part.TEXT_ENCODERS})


def load_pipeline(
    pipeline_class: type[diffusers.DiffusionPipeline],
    path: str,
    *,
    device: torch.device,
    dtype: torch.dtype,
    parts: frozenset[Part] = ALL_PARTS,
    vae_dtype: torch.dtype | None = None,
    given: Mapping[str, torch.nn.Module] | None = None,
) -> Any:
    """The pipeline with `parts` on `device`, frozen, from safetensors only.

    Args:
        pipeline_class: of the family.
        path: a folder in diffusers layout, or a hub id.
        device: where the parts go; a given module stays where it is.
        dtype: of the weights.
        parts: what is wanted.
        vae_dtype: of the autoencoder, where half precision is known to harm it.
        given: modules by component name that exist already (a sharded transformer) and are not loaded again.

    Raises:
        ModelLoadError: for a checkpoint of another pipeline.
        OSError: (diffusers') where weights are missing.
    """
    index = pipeline_class.load_config(path)
    if index.get("_class_name") != pipeline_class.__name__:
        raise ModelLoadError(
            f"`base_model.family` must be that of the checkpoint, got the one of {pipeline_class.__name__}: "
            f"{path} is a {index.get('_class_name')}"
        )
    stand_ins: dict[str, Any] = dict(given or {})
    for name, class_name in _components(index).items():
        part = _part_of(name)
        if part is None or part in parts or name in stand_ins:
            continue
        stand_ins[name] = None if part is Part.TEXT_ENCODERS else _skeleton(path, name, class_name)
    pipeline: Any = pipeline_class.from_pretrained(
        path, dtype={"default": dtype, "vae": vae_dtype or dtype}, use_safetensors=True, **stand_ins
    )
    for name, module in pipeline.components.items():
        if isinstance(module, torch.nn.Module) and name not in stand_ins:
            module.to(device).requires_grad_(False).eval()
    return pipeline


def drop_text_encoders(pipeline: Any) -> None:
    """Forget them, so that their memory is free for the policy."""
    for name in list(pipeline.components):
        if name.startswith("text_encoder"):
            setattr(pipeline, name, None)


def has_text_encoders(pipeline: Any) -> bool:
    return any(name.startswith("text_encoder") and part is not None for name, part in pipeline.components.items())


def is_skeleton(module: torch.nn.Module) -> bool:
    return any(parameter.is_meta for parameter in module.parameters())


def _components(index: Mapping[str, Any]) -> dict[str, str]:
    """Class names of the modules that a checkpoint's `model_index.json` lists."""
    return {
        name: value[1]
        for name, value in index.items()
        if isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[1], str)
    }


def _part_of(name: str) -> Part | None:
    if name.startswith(("text_encoder", "tokenizer")):
        return Part.TEXT_ENCODERS
    if name.startswith("transformer"):
        return Part.TRANSFORMER
    return Part.VAE if name == "vae" else None


def _skeleton(path: str, name: str, class_name: str) -> torch.nn.Module:
    module_class = getattr(diffusers, class_name)
    config = module_class.load_config(path, subfolder=name)
    with torch.device("meta"):
        module: torch.nn.Module = module_class.from_config(config)
    return module
