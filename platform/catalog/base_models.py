"""Base models: folders in diffusers layout below `TANDEM_MODEL_ROOTS`, or hub ids. Safetensors only.

Invariant: a path that a user gives is opened only once it is known to lie below a root. Weights that could run code
when loaded (pickles) are refused by their file name, here and again by the engine's loader.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import ModelFamily

MAX_SMALL_BYTES = 2**30
"""Weights that every GPU holds twice, as policy and as sampler, and every disk yields within seconds."""
MAX_DEPTH = 3
"""Folders below a root that are searched for models."""
PICKLE_SUFFIXES = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"})
FAMILY_OF_PIPELINE = {
    "FluxPipeline": ModelFamily.FLUX,
    "StableDiffusion3Pipeline": ModelFamily.SD3,
    "Flux2Pipeline": ModelFamily.FLUX2,
    "Flux2KleinPipeline": ModelFamily.FLUX2_KLEIN,
    "QwenImagePipeline": ModelFamily.QWEN_IMAGE,
    "ZImagePipeline": ModelFamily.Z_IMAGE,
    "WanPipeline": ModelFamily.WAN,
    "HunyuanVideoPipeline": ModelFamily.HUNYUAN_VIDEO,
}
"""Families by the pipeline class that a checkpoint names; Wan2.1 and Wan2.2 share theirs."""
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")


class ModelNotUsable(ValueError):
    """The base model does not exist, or must not be loaded. The message says what to do."""


@dataclass(frozen=True, slots=True)
class BaseModelEntry:
    """A model as the form offers it. `name` is the value for a spec's `base_model.path`."""

    name: str
    family: ModelFamily
    path: Path
    description: str


def list_base_models() -> list[BaseModelEntry]:
    """Every usable model below the roots, by name; one under a name taken by an earlier root is hidden by it."""
    found: dict[str, BaseModelEntry] = {}
    for root in model_roots():
        for folder in _model_folders(root, MAX_DEPTH):
            name = folder.relative_to(root).as_posix()
            family = _family(folder)
            if name not in found and family is not None and _refusal(folder) is None:
                found[name] = BaseModelEntry(name, family, folder, _description(folder))
    return sorted(found.values(), key=lambda entry: entry.name)


def smallest_picture_model() -> BaseModelEntry | None:
    """The base model for pictures with the fewest bytes of weights, of at most `MAX_SMALL_BYTES`; None if there is
    none."""
    sizes = {
        entry.name: (sum(file.stat().st_size for file in entry.path.rglob("*.safetensors")), entry)
        for entry in list_base_models()
        if not FAMILY_TRAITS[entry.family].makes_clips
    }
    smallest = min(sizes.values(), key=lambda pair: pair[0], default=None)
    return smallest[1] if smallest is not None and smallest[0] <= MAX_SMALL_BYTES else None


def resolve_base_model(path: str) -> str:
    """What the engine loads: the absolute folder of a name below a root, or the hub id unchanged.

    Raises `ModelNotUsable`: outside the roots, absent, not in diffusers layout, of an unknown pipeline, or pickled.
    """
    for root in model_roots():
        folder = (root / path).resolve()
        if folder.is_relative_to(root) and folder != root and folder.is_dir():
            refusal = _refusal(folder)
            if refusal:
                raise ModelNotUsable(f"`base_model.path` `{path}` {refusal}")
            return str(folder)
    if HUB_ID.fullmatch(path) and ".." not in path:
        return path
    names = ", ".join(f"`{entry.name}`" for entry in list_base_models()) or "none yet"
    raise ModelNotUsable(
        f"`base_model.path` `{path}` is no folder below TANDEM_MODEL_ROOTS and no hub id (`org/name`): "
        f"choose one of {names}, or ask an admin to add the model's folder"
    )


def resolve_weights(path: str) -> str:
    """What a scorer loads: the absolute folder of a name below a root, or the hub id unchanged.

    Raises `ModelNotUsable`: outside the roots, absent, not in transformers layout, or pickled.
    """
    for root in model_roots():
        folder = (root / path).resolve()
        if folder.is_relative_to(root) and folder != root and folder.is_dir():
            pickles, num_tensors = _weight_files(folder.rglob("*"))
            if pickles:
                raise ModelNotUsable(
                    f"holds pickled weights ({pickles[0]}), which can run code when loaded: save it as safetensors"
                )
            # A tokenizer or processor alone may be named too.
            if not num_tensors and not any(folder.glob("*.json")):
                raise ModelNotUsable("holds neither safetensors nor a configuration: save it with `save_pretrained`")
            return str(folder)
    if HUB_ID.fullmatch(path) and ".." not in path:
        return path
    raise ModelNotUsable("is no folder below TANDEM_MODEL_ROOTS and no hub id (`org/name`)")


def model_roots() -> Iterator[Path]:
    """The folders of `TANDEM_MODEL_ROOTS` that exist, resolved."""
    for root in settings.TANDEM_MODEL_ROOTS:
        resolved = Path(root).resolve()
        if resolved.is_dir():
            yield resolved


def _model_folders(folder: Path, depth: int) -> Iterator[Path]:
    for child in sorted(folder.iterdir()):
        if not child.is_dir() or child.name.startswith(".") or child.is_symlink():
            continue
        if (child / "model_index.json").is_file():
            yield child
        elif depth > 1:
            yield from _model_folders(child, depth - 1)


def _refusal(folder: Path) -> str | None:
    """Why the folder cannot be a base model, as the end of a sentence; None if it can."""
    if not (folder / "model_index.json").is_file():
        return "has no model_index.json: save it with diffusers' `save_pretrained`"
    if _family(folder) is None:
        return f"is no {' or '.join(FAMILY_OF_PIPELINE)}: its model_index.json names another pipeline"
    pickles, tensors = _weight_files(folder.rglob("*"))
    if pickles:
        return f"holds pickled weights ({pickles[0]}), which can run code when loaded: save it as safetensors"
    if not tensors:
        return "holds no safetensors file: save it with diffusers' `save_pretrained`"
    return None


def _weight_files(files: Iterable[Path]) -> tuple[list[str], int]:
    pickles, num_tensors = [], 0
    for file in files:
        if file.suffix == ".safetensors":
            num_tensors += 1
        elif file.suffix in PICKLE_SUFFIXES:
            pickles.append(file.name)
    return sorted(pickles), num_tensors


def _family(folder: Path) -> ModelFamily | None:
    try:
        index = json.loads((folder / "model_index.json").read_text())
    except ValueError:
        return None
    if not isinstance(index, dict):
        return None
    family = FAMILY_OF_PIPELINE.get(str(index.get("_class_name")))
    # Wan2.2 has a second transformer, or gives its only one a timestep for each token.
    has_second = any(index.get("transformer_2") or ())
    is_wan22 = family is ModelFamily.WAN and (has_second or bool(index.get("expand_timesteps")))
    return ModelFamily.WAN22 if is_wan22 else family


def _description(folder: Path) -> str:
    """The first line of prose in the model's README, if it has one."""
    readme = folder / "README.md"
    if not readme.is_file():
        return ""
    prose = readme.read_text(errors="replace")
    if prose.startswith("---\n"):
        prose = prose[4:].partition("\n---\n")[2]
    lines = (line.strip() for line in prose.splitlines())
    return next((line for line in lines if line and not line.startswith(("#", "!", "<", "|"))), "")[:300]
