"""Load a pipeline in part: a trainer may need no autoencoder, a lane with imported embeddings no text encoder.

A transformer or autoencoder that is left out is replaced by a skeleton on the meta device: its config can be read
(scale factors, channels), but its weights take no memory and cannot be used by mistake.
"""

import gc
import re
from collections.abc import Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Any

import diffusers
import torch
from deepspeed.accelerator import get_accelerator
from transformers import AutoTokenizer
from transformers.utils import is_torchvision_available

from worker.engine.errors import ModelLoadError, listing
from worker.engine.models.checkpoint_folder import checkpoint_folder
from worker.engine.models.streamed_loading import load_streamed


class Part(Enum):
    """A part of a pipeline that a lane may do without."""

    TRANSFORMER = auto()
    TEXT_ENCODERS = auto()
    VAE = auto()


ALL_PARTS = frozenset(Part)
WITHOUT_TEXT = frozenset({Part.TRANSFORMER, Part.VAE})
TEXT_ONLY = frozenset({Part.TEXT_ENCODERS})

_VARIANT_FILE = re.compile(r"\w+\.(?P<variant>\w+)(-\d+-of-\d+)?\.safetensors")
"""A weight file of a variant, as diffusers names it."""


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
        pipeline_class: the family's.
        path: a folder in diffusers layout, or a hub id.
        device: where to put the parts; a given module stays where it is.
        dtype: the weights' dtype.
        parts: the parts to load.
        vae_dtype: the autoencoder's dtype, where it is not `dtype`.
        given: modules by component name that exist already (e.g. a sharded transformer) and are not loaded.

    Raises:
        ModelLoadError: for a checkpoint of another pipeline, or one that lacks single weights.
        OSError: from diffusers, where files are missing.
    """
    index = pipeline_class.load_config(path)
    if index.get("_class_name") != pipeline_class.__name__:
        raise ModelLoadError(
            f"`base_model.family` must be that of the checkpoint, got the one of {pipeline_class.__name__}: "
            f"{path} is a {index.get('_class_name')}"
        )
    processors = _processors_without_torchvision(index) if Part.TEXT_ENCODERS in parts else []
    replacements = {**_replacements(index, path, parts), **dict.fromkeys(processors), **(given or {})}
    streamed = _streamed(index, path, replacements, device, dtype)
    pipeline: Any = pipeline_class.from_pretrained(
        path,
        dtype={"default": dtype, "vae": vae_dtype or dtype},
        use_safetensors=True,
        variant=_only_variant(Path(path)),
        **replacements,
        **streamed,
    )
    # `from_pretrained` refuses tokenizers in place of processors, so they are registered afterwards.
    pipeline.register_modules(**{name: _tokenizer_of_processor(path, name) for name in processors})
    for name, module in pipeline.components.items():
        if isinstance(module, torch.nn.Module) and name not in replacements:
            _check_complete(module, name, path)
            module.to(device).requires_grad_(False).eval()
    return pipeline


def _streamed(
    index: Mapping[str, Any], path: str, without: Mapping[str, Any], device: torch.device, dtype: torch.dtype
) -> dict[str, torch.nn.Module]:
    """The transformers of a checkpoint, by component name, but those in `without`. They are by far the largest part,
    and what published checkpoints store in fp32. One without weights is left to diffusers, which says what it lacks."""
    wanted = {
        name: getattr(diffusers, class_name)
        for name, class_name in _components(index).items()
        if _part_of(name) is Part.TRANSFORMER and name not in without
    }
    if not wanted:
        return {}
    folder = checkpoint_folder(path)
    return {
        name: load_streamed(folder / name, model_class, device=device, dtype=dtype)
        for name, model_class in wanted.items()
        if any((folder / name).glob("*.safetensors"))
    }


def drop_text_encoders(pipeline: Any) -> None:
    """Remove the text encoders and return their memory to the device, since another process may load a policy next."""
    for name in list(pipeline.components):
        if name.startswith("text_encoder"):
            setattr(pipeline, name, None)
    gc.collect()
    get_accelerator().empty_cache()


def has_text_encoders(pipeline: Any) -> bool:
    return any(name.startswith("text_encoder") and part is not None for name, part in pipeline.components.items())


def is_skeleton(module: torch.nn.Module) -> bool:
    """Whether a pipeline's part was left out."""
    return any(parameter.is_meta for parameter in module.parameters())


def _components(index: Mapping[str, Any]) -> dict[str, str]:
    """The class names of the components that a checkpoint's `model_index.json` lists, by component name."""
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


def _replacements(index: Mapping[str, Any], path: str, parts: frozenset[Part]) -> dict[str, Any]:
    """The values of components that are not loaded: those of other parts, and those that the checkpoint lacks
    (`[null, null]`, e.g. SD3 without T5), for which diffusers needs an explicit `None`."""
    found: dict[str, Any] = {name: None for name, value in index.items() if value in ([None, None], (None, None))}
    for name, class_name in _components(index).items():
        part = _part_of(name)
        if part is not None and part not in parts:
            found[name] = None if part is Part.TEXT_ENCODERS else _skeleton(path, name, class_name)
    return found


def _processors_without_torchvision(index: Mapping[str, Any]) -> list[str]:
    """The names of tokenizer components that are processors of text and pictures (FLUX.2 dev's is Pixtral's), where
    torchvision, which processors need, is not installed."""
    if is_torchvision_available():
        return []
    return [
        name
        for name, class_name in _components(index).items()
        if name.startswith("tokenizer") and class_name.endswith("Processor")
    ]


def _tokenizer_of_processor(path: str, name: str) -> Any:
    """The tokenizer inside a processor, which is all that prompts need.

    Raises:
        ModelLoadError: where the processor would tokenize a prompt differently.
    """
    tokenizer = AutoTokenizer.from_pretrained(path, subfolder=name)
    messages = [{"role": "user", "content": [{"type": "text", "text": "a"}]}]
    # A processor adds the start token where the chat template has none, a tokenizer does not.
    if not tokenizer.apply_chat_template(messages, tokenize=False).startswith(tokenizer.bos_token or ""):
        raise ModelLoadError(
            f"`base_model.path` must have a chat template that begins with {tokenizer.bos_token}, got another in "
            f"{path}: install torchvision, so that its processor can be used"
        )
    return tokenizer


def _only_variant(folder: Path) -> str | None:
    """The variant (e.g. `fp16`) that a folder's transformer is stored in, where it is stored in no other form."""
    names = [file.name for file in (folder / "transformer").glob("*.safetensors")]
    matches = [_VARIANT_FILE.fullmatch(name) for name in names]
    found = {match["variant"] for match in matches if match is not None}
    return found.pop() if len(found) == 1 and None not in matches else None


def _check_complete(module: torch.nn.Module, name: str, path: str) -> None:
    """Raise `ModelLoadError` for weights that the files lack, which diffusers leaves on the meta device."""
    if missing := [weight for weight, parameter in module.named_parameters() if parameter.is_meta]:
        raise ModelLoadError(
            f"`base_model.path` must hold every weight of its {name}, got {path} without {listing(missing, 5)}: "
            "download it again"
        )


def _skeleton(path: str, name: str, class_name: str) -> torch.nn.Module:
    """The module of a component on the meta device, built from its config."""
    module_class = getattr(diffusers, class_name)
    config = module_class.load_config(path, subfolder=name)
    with torch.device("meta"):
        module: torch.nn.Module = module_class.from_config(config)
    return module
