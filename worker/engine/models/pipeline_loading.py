"""Load a pipeline in part: a trainer needs no autoencoder, a lane with embeddings at hand no text encoder.

A transformer or autoencoder that is left out stands in the pipeline as a skeleton on the meta device: its config still
answers (scale factors, channels), its weights take no memory and cannot be used by mistake.
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


class Part(Enum):
    TRANSFORMER = auto()
    TEXT_ENCODERS = auto()
    VAE = auto()


ALL_PARTS = frozenset(Part)
WITHOUT_TEXT = frozenset({Part.TRANSFORMER, Part.VAE})
TEXT_ONLY = frozenset({Part.TEXT_ENCODERS})

_OF_A_VARIANT = re.compile(r"\w+\.(?P<variant>\w+)(-\d+-of-\d+)?\.safetensors")


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
        ModelLoadError: for a checkpoint of another pipeline, or one that lacks single weights.
        OSError: (diffusers') where files are missing.
    """
    index = pipeline_class.load_config(path)
    if index.get("_class_name") != pipeline_class.__name__:
        raise ModelLoadError(
            f"`base_model.family` must be that of the checkpoint, got the one of {pipeline_class.__name__}: "
            f"{path} is a {index.get('_class_name')}"
        )
    halved = _halved_processors(index) if Part.TEXT_ENCODERS in parts else []
    stand_ins = {**_stand_ins(index, path, parts), **dict.fromkeys(halved), **(given or {})}
    pipeline: Any = pipeline_class.from_pretrained(
        path,
        dtype={"default": dtype, "vae": vae_dtype or dtype},
        use_safetensors=True,
        variant=_only_variant(Path(path)),
        **stand_ins,
    )
    # Handed over any earlier, they would be refused for not being the processors.
    pipeline.register_modules(**{name: _tokenizer_of_processor(path, name) for name in halved})
    for name, module in pipeline.components.items():
        if isinstance(module, torch.nn.Module) and name not in stand_ins:
            _check_complete(module, name, path)
            module.to(device).requires_grad_(False).eval()
    return pipeline


def drop_text_encoders(pipeline: Any) -> None:
    """Forget them, and give their memory back: the policy is loaded next, perhaps by another process of the device."""
    for name in list(pipeline.components):
        if name.startswith("text_encoder"):
            setattr(pipeline, name, None)
    gc.collect()
    get_accelerator().empty_cache()


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


def _stand_ins(index: Mapping[str, Any], path: str, parts: frozenset[Part]) -> dict[str, Any]:
    """What stands where a part is not wanted, or where the checkpoint itself has none (`[null, null]`: SD3 without T5),
    which diffusers wants to be told once more."""
    found: dict[str, Any] = {name: None for name, value in index.items() if value in ([None, None], (None, None))}
    for name, class_name in _components(index).items():
        part = _part_of(name)
        if part is not None and part not in parts:
            found[name] = None if part is Part.TEXT_ENCODERS else _skeleton(path, name, class_name)
    return found


def _halved_processors(index: Mapping[str, Any]) -> list[str]:
    """Tokenizers that read pictures beside text (FLUX.2 dev's is Pixtral's processor), where torchvision, which they
    ask for, is not installed."""
    if is_torchvision_available():
        return []
    return [
        name
        for name, class_name in _components(index).items()
        if name.startswith("tokenizer") and class_name.endswith("Processor")
    ]


def _tokenizer_of_processor(path: str, name: str) -> Any:
    """The half of a processor that prompts go through; the whole needs torchvision, for pictures.

    Raises:
        ModelLoadError: where the processor would treat a prompt otherwise than its tokenizer does.
    """
    tokenizer = AutoTokenizer.from_pretrained(path, subfolder=name)
    asked = [{"role": "user", "content": [{"type": "text", "text": "a"}]}]
    # A processor adds the start token where the chat template has none.
    if not tokenizer.apply_chat_template(asked, tokenize=False).startswith(tokenizer.bos_token or ""):
        raise ModelLoadError(
            f"`base_model.path` must have a chat template that begins with {tokenizer.bos_token}, got another in "
            f"{path}: install torchvision, so that its processor can be used"
        )
    return tokenizer


def _only_variant(folder: Path) -> str | None:
    """The variant (`fp16`, say) that a folder's transformer is stored in, where it is stored in no other form."""
    names = [file.name for file in (folder / "transformer").glob("*.safetensors")]
    matches = [_OF_A_VARIANT.fullmatch(name) for name in names]
    found = {match["variant"] for match in matches if match is not None}
    return found.pop() if len(found) == 1 and None not in matches else None


def _check_complete(module: torch.nn.Module, name: str, path: str) -> None:
    """Raises `ModelLoadError` for weights that the files lack, which diffusers leaves without values."""
    if missing := [weight for weight, parameter in module.named_parameters() if parameter.is_meta]:
        raise ModelLoadError(
            f"`base_model.path` must hold every weight of its {name}, got {path} without {listing(missing, 5)}: "
            "download it again"
        )


def _skeleton(path: str, name: str, class_name: str) -> torch.nn.Module:
    module_class = getattr(diffusers, class_name)
    config = module_class.load_config(path, subfolder=name)
    with torch.device("meta"):
        module: torch.nn.Module = module_class.from_config(config)
    return module
